/** The official SDK v1 client, as a peer. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import type { ChangeFilter } from "@patchbay/client";
import type { CompleteParams, LoggingLevel, LogMessage, Root } from "@patchbay/core";
import {
  type Address,
  type Answers,
  type CallOptions,
  type Connect,
  type PeerClient,
  SDK_CAPABILITIES,
  SDK_RECONNECTION,
  sdkOptions,
  watchStream,
} from "./peer-client.ts";

type Params = { cursor?: string };

export const sdkV1: Connect = async (address, answers) => {
  const client = new Client(
    { name: "sdk-v1", version: "1.0.0" },
    { capabilities: answers === undefined ? {} : SDK_CAPABILITIES },
  );
  if (answers !== undefined) answer(client, answers);
  const stream = watchStream();
  const transport = transportTo(address, stream.fetch);
  const revision = agreedRevision(transport);
  await client.connect(transport);
  const peer = {
    revision: revision(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    listTools: () => allPages("tools", (params) => client.listTools(params)),
    listResources: () => allPages("resources", (params) => client.listResources(params)),
    resourcePage: (cursor?: string) => client.listResources(cursor === undefined ? {} : { cursor }),
    listResourceTemplates: () =>
      allPages("resourceTemplates", (params) => client.listResourceTemplates(params)),
    listPrompts: () => allPages("prompts", (params) => client.listPrompts(params)),
    callTool: (name: string, args: Record<string, unknown> = {}, options: CallOptions = {}) =>
      client.callTool({ name, arguments: args }, undefined, sdkOptions(options)),
    readResource: (uri: string) => client.readResource({ uri }),
    getPrompt: (name: string, args: Record<string, string> = {}) =>
      client.getPrompt({ name, arguments: args }),
    complete: (params: CompleteParams) => client.complete(params),
    listenToLogs: async (level: LoggingLevel, listener: (message: LogMessage) => void) => {
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) =>
        listener(params as LogMessage),
      );
      await client.setLoggingLevel(level);
    },
    changeRoots: async (roots: Root[]) => {
      if (answers !== undefined) answers.roots = roots;
      await client.sendRootsListChanged();
    },
    listen: async (filter: ChangeFilter, onChange: (what: string) => void) => {
      if (transport instanceof StreamableHTTPClientTransport) await stream.opened;
      hear(client, onChange);
      const uris = filter.resourceSubscriptions ?? [];
      for (const uri of uris) await client.subscribeResource({ uri });
      return {
        honored: undefined,
        close: async () => {
          for (const uri of uris) await client.unsubscribeResource({ uri });
        },
      };
    },
    callTask: async (name: string) => {
      // It looks at the tools' list to see which can be tasks.
      await client.listTools();
      const told: string[] = [];
      const stream = client.experimental.tasks.callToolStream({ name, arguments: {} }, undefined, {
        task: {},
      });
      for await (const message of stream) {
        if (message.type === "error") throw message.error;
        if (message.type === "result") return { told, result: message.result };
        told.push(message.type === "taskStatus" ? message.task.status : message.type);
      }
      throw new Error("The stream ended without a result");
    },
    ping: () => client.ping(),
    close: async () => {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
      await client.close();
    },
  } satisfies Record<keyof PeerClient, unknown>;
  return peer as unknown as PeerClient;
};

function transportTo(address: Address, fetch: typeof globalThis.fetch): Transport {
  if (!("url" in address)) return new StdioClientTransport(address);
  const url = new URL(address.url);
  if (address.sse) return new SSEClientTransport(url);
  // Their types do not hold under each other's compiler options; it is one object all the same.
  const options = { fetch, reconnectionOptions: SDK_RECONNECTION };
  return new StreamableHTTPClientTransport(url, options) as Transport;
}

function answer(client: Client, answers: Answers): void {
  const asked = <Params>(params: unknown) => params as Params;
  const given = (result: object) => result as never;
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => given(answers.elicit(asked(params))));
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => given(answers.sample(asked(params))));
  client.setRequestHandler(ListRootsRequestSchema, () => given({ roots: answers.roots }));
}

function hear(client: Client, onChange: (what: string) => void): void {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => onChange("tools"));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => onChange("prompts"));
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => onChange("resources"));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onChange(params.uri));
}

/** The client does not tell which revision was agreed on; it tells its transport. */
function agreedRevision(transport: Transport): () => string | undefined {
  let revision: string | undefined;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    revision = version;
    tell?.(version);
  };
  return () => revision;
}

async function allPages<Key extends string>(
  key: Key,
  ask: (params: Params) => Promise<{ [K in Key]: unknown[] } & { nextCursor?: string | undefined }>,
): Promise<unknown[]> {
  const all: unknown[] = [];
  let params: Params | undefined = {};
  while (params !== undefined) {
    const page = await ask(params);
    all.push(...page[key]);
    params = page.nextCursor === undefined ? undefined : { cursor: page.nextCursor };
  }
  return all;
}
