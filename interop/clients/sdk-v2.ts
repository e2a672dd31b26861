/** The official SDK v2 client, as a peer of either era. */

import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type CompleteParams, type LoggingLevel, type LogMessage, META } from "@patchbay/core";
import { type CallOptions, type Connect, type PeerClient, sdkOptions } from "./peer-client.ts";

export function sdkV2(mode: VersionNegotiationMode): Connect {
  return async (address) => {
    const client = new Client({ name: "sdk-v2", version: "2.0.0" }, { versionNegotiation: { mode } });
    const transport =
      "url" in address
        ? new StreamableHTTPClientTransport(new URL(address.url))
        : new StdioClientTransport(address);
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
