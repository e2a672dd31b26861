/** The official SDK v2 client, as a peer of either era. */

import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { ChangeFilter } from "@patchbay/client";
import { type CompleteParams, type LoggingLevel, type LogMessage, META, type Root } from "@patchbay/core";
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

export function sdkV2(mode: VersionNegotiationMode): Connect {
  return async (address, answers) => {
    const client = new Client(
      { name: "sdk-v2", version: "2.0.0" },
      { versionNegotiation: { mode }, capabilities: answers === undefined ? {} : SDK_CAPABILITIES },
    );
    if (answers !== undefined) answer(client, answers);
    const stream = watchStream();
    const transport = transportTo(address, stream.fetch);
    await client.connect(transport);
    const modern = client.getProtocolEra() === "modern";
    let logLevel: LoggingLevel | undefined;
    const peer = {
      revision: client.getNegotiatedProtocolVersion(),
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
      listTools: async () => (await client.listTools()).tools,
      listResources: async () => (await client.listResources()).resources,
      // With no cursor at all the client would collect every page.
      resourcePage: (cursor?: string) =>
        client.request({ method: "resources/list", params: cursor === undefined ? {} : { cursor } }),
      listResourceTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
      listPrompts: async () => (await client.listPrompts()).prompts,
      callTool: (name: string, args: Record<string, unknown> = {}, options: CallOptions = {}) =>
        client.callTool(
          {
            name,
            arguments: args,
            ...(modern && logLevel && { _meta: { [META.logLevel]: logLevel } }),
          },
          sdkOptions(options),
        ),
      readResource: (uri: string) => client.readResource({ uri }),
      getPrompt: (name: string, args: Record<string, string> = {}) =>
        client.getPrompt({ name, arguments: args }),
      complete: (params: CompleteParams) => client.complete(params),
      listenToLogs: async (level: LoggingLevel, listener: (message: LogMessage) => void) => {
        client.setNotificationHandler("notifications/message", ({ params }) =>
          listener(params as LogMessage),
        );
        logLevel = level;
        if (!modern) await client.setLoggingLevel(level);
      },
      changeRoots: async (roots: Root[]) => {
        if (answers !== undefined) answers.roots = roots;
        if (!modern) await client.sendRootsListChanged();
      },
      listen: async (filter: ChangeFilter, onChange: (what: string) => void) => {
        hear(client, onChange);
        if (modern) {
          const subscription = await client.listen(filter as Parameters<typeof client.listen>[0]);
          return {
            honored: subscription.honoredFilter,
            ended: subscription.closed,
            close: () => subscription.close(),
          };
        }
        if (transport instanceof StreamableHTTPClientTransport) await stream.opened;
        const uris = filter.resourceSubscriptions ?? [];
        for (const uri of uris) await client.subscribeResource({ uri });
        return {
          honored: undefined,
          close: async () => {
            for (const uri of uris) await client.unsubscribeResource({ uri });
          },
        };
      },
      callTask: undefined,
      // The modern era has no ping.
      ping: () => (modern ? client.discover() : client.ping()),
      close: async () => {
        if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
        await client.close();
      },
    } satisfies Record<keyof PeerClient, unknown>;
    return peer as unknown as PeerClient;
  };
}

function transportTo(address: Address, fetch: typeof globalThis.fetch) {
  if (!("url" in address)) return new StdioClientTransport(address);
  const url = new URL(address.url);
  if (address.sse) return new SSEClientTransport(url);
  return new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions: SDK_RECONNECTION });
}

function answer(client: Client, answers: Answers): void {
  const asked = <Params>(params: unknown) => params as Params;
  const given = (result: object) => result as never;
  client.setRequestHandler("elicitation/create", ({ params }) => given(answers.elicit(asked(params))));
  client.setRequestHandler("sampling/createMessage", ({ params }) => given(answers.sample(asked(params))));
  client.setRequestHandler("roots/list", () => given({ roots: answers.roots }));
}

function hear(client: Client, onChange: (what: string) => void): void {
  client.setNotificationHandler("notifications/tools/list_changed", () => onChange("tools"));
  client.setNotificationHandler("notifications/prompts/list_changed", () => onChange("prompts"));
  client.setNotificationHandler("notifications/resources/list_changed", () => onChange("resources"));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => onChange(params.uri));
}
