/** From a target to a client: the transport is seen from the target, the era is found out. */

import type { ChannelServer, ToolsOf } from "@patchbay/core";
import { type Client, ConnectedClient } from "./client.ts";
import { Conversation } from "./conversation.ts";
import { ConnectionError } from "./errors.ts";
import { type Agreement, negotiate, openAgain } from "./negotiate.ts";
import { type ConnectOptions, type Settings, settingsOf } from "./options.ts";
import { Recovery } from "./recover.ts";
import type { HttpTransport } from "./transports/http.ts";
import type { HttpTarget } from "./transports/http-endpoint.ts";
import { memoryTransport } from "./transports/memory.ts";
import { observed } from "./transports/observed.ts";
import type { Command } from "./transports/process-tree.ts";
import { stdioTransport } from "./transports/stdio.ts";
import type { Transport } from "./transports/transport.ts";

/** A server process to start: it is ours, and ends with the connection. */
export type StdioTarget = Command;

/** What can be connected to: a URL, a command, or a server in this process. */
export type Target = string | URL | HttpTarget | StdioTarget | ChannelServer;

/**
 * Connects to an MCP server. Whether it is modern or legacy is found out by asking it.
 *
 * A server in this process tells its tools by its type, and `callTool` is then typed by them; for any other
 * target name the type: `connect<typeof weather>("https://…")`.
 *
 * @throws ConnectionError that says what happened and what to do
 */
export async function connect<Server = unknown>(
  target: Target | (Server & ChannelServer),
  options: ConnectOptions = {},
): Promise<Client<ToolsOf<Server>>> {
  return (await connectTo(target, options)) as Client<ToolsOf<Server>>;
}

async function connectTo(target: Target, options: ConnectOptions): Promise<Client> {
  const settings = settingsOf(options);
  settings.signal?.throwIfAborted();
  if (typeof target === "object" && "serve" in target)
    return open(memoryTransport(target, settings), settings);
  if (typeof target === "object" && "command" in target) return connectByCommand(target, settings);
  const isUrl = typeof target === "string" || target instanceof URL;
  // Only for a URL: an HTTP client takes longer to load than all else of this package.
  const { connectByUrl } = await import("./by-url.ts");
  return connectByUrl(isUrl ? { url: target } : target, settings, open);
}

async function connectByCommand(target: StdioTarget, settings: Settings): Promise<Client> {
  try {
    return await open(stdioTransport(target, settings), settings);
  } catch (error) {
    // Some legacy servers exit when anything comes before `initialize`; the second start spares them.
    if (settings.era !== "auto" || !(error instanceof ConnectionError) || error.reason !== "exited")
      throw error;
    return open(stdioTransport(target, settings), { ...settings, era: "legacy" });
  }
}

async function open(bare: Transport, settings: Settings): Promise<Client> {
  const { onMessage } = settings;
  const transport = onMessage === undefined ? bare : observed(bare, onMessage);
  const conversation = new Conversation(transport, settings);
  settings.authorization?.onWait?.(() => conversation.holdAll());
  try {
    return await unlessOver(agree(conversation), conversation, settings);
  } catch (error) {
    const told = withEvidence(error, transport);
    await conversation.close();
    throw told;
  }
}

async function agree(conversation: Conversation): Promise<Client> {
  const { transport } = conversation;
  const agreement = await negotiate(conversation);
  const client = new ConnectedClient(conversation, agreement);
  if (isHttp(transport) && agreement.era === "legacy") await transport.openStandalone();
  conversation.recovery = recoveryOf(conversation, agreement, client);
  if (agreement.era === "legacy") await client.setServerLogLevel();
  return client;
}

/** What a server keeps for us is lost with its session or its process; this is how it is had again. */
function recoveryOf(
  conversation: Conversation,
  agreement: Agreement,
  client: ConnectedClient,
): Recovery | undefined {
  const { transport, settings } = conversation;
  const reopens = transport.reopen !== undefined && settings.maxRestarts > 0;
  if (!reopens && !(isHttp(transport) && agreement.era === "legacy")) return undefined;
  return new Recovery(conversation, {
    handshake: async () => {
      await openAgain(conversation, agreement);
      if (isHttp(transport)) await transport.openStandalone();
    },
    onOpen: () => client.restoreSession(),
  });
}

function isHttp(transport: Transport): transport is HttpTransport {
  return "openStandalone" in transport;
}

/** Connecting, until it takes too long or the caller gives up. */
async function unlessOver<T>(work: Promise<T>, { transport }: Conversation, settings: Settings): Promise<T> {
  const { signal, connectTimeout, authorization, clock } = settings;
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  let connected = false;
  const over = new Promise<never>((_, reject) => {
    const start = () => {
      clearTimeout(timer);
      if (connected) return;
      timer = setTimeout(
        () => {
          const what = `${transport.serverName} did not answer within connectTimeout (${connectTimeout} ms)`;
          reject(new ConnectionError("silent", what));
        },
        clock.since + connectTimeout - performance.now(),
      );
    };
    start();
    authorization?.onWait?.(() => {
      clearTimeout(timer);
      return () => {
        // A user took their time.
        clock.since = performance.now();
        start();
      };
    });
    onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    connected = true;
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
    // When it was cut short, what it rejects with afterwards is of no interest.
    work.catch(() => {});
  }
}

/** A failure to connect, with what the server left behind that may explain it. */
function withEvidence(error: unknown, transport: Transport): unknown {
  const evidence = transport.evidence();
  if (!(error instanceof ConnectionError) || evidence === "" || error.message.includes(evidence))
    return error;
  return error.told(`${error.message}. ${evidence}`);
}
