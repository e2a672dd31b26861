/** The official SDK v1 client, as a peer. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { CompleteParams, LoggingLevel, LogMessage } from "@patchbay/core";
import { type Address, type CallOptions, type Connect, type PeerClient, sdkOptions } from "./peer-client.ts";

type Params = { cursor?: string };

export const sdkV1: Connect = async (address) => {
  const client = new Client({ name: "sdk-v1", version: "1.0.0" });
  const transport = transportTo(address);
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
    ping: () => client.ping(),
    close: async () => {
      if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
      await client.close();
    },
  } satisfies Record<keyof PeerClient, unknown>;
  return peer as unknown as PeerClient;
};

function transportTo(address: Address): Transport {
  // Their types do not hold under each other's compiler options; it is one object all the same.
  return "url" in address
    ? (new StreamableHTTPClientTransport(new URL(address.url)) as Transport)
    : new StdioClientTransport(address);
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
