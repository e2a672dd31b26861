/** HTTP+SSE, the transport of 2024-11-05: a GET stream down, a POST for each message up. It is a channel like stdio. */

import {
  type Channel,
  limitError,
  parseMessages,
  SSE_KEEP_ALIVE,
  sseEvent,
  toErrorObject,
} from "@patchbay/core";
import { atExpiry } from "../../auth/expiry.ts";
import type { Gate } from "../../auth/gate.ts";
import { Shares } from "../../auth/shares.ts";
import type { McpServer } from "../../server.ts";
import { prefixOf } from "../../sessions/instance.ts";
import { every } from "../../timers.ts";
import { type ChannelOptions, type Serving, serveChannel } from "../channel.ts";
import { BodyTooLargeError, type HttpExchange } from "./exchange.ts";
import { allowOrigin, type Guard } from "./guard.ts";
import { accepts, unreadable } from "./headers.ts";
import { refuse, refuseForNow, refuseScopes, refuseTooLarge } from "./responses.ts";

export interface SseOptions extends ChannelOptions {
  maxMessageBytes: number;
  maxBufferedBytes: number;
  keepAlive: number;
  /** Connections that may be open at once. */
  maxSseConnections: number;
  /** Those of one principal, where requests are authorized. */
  maxSseConnectionsPerPrincipal: number;
  /** Where a client opens its stream: what its tokens are for. */
  path: string;
  /** Where a client is to post its messages. */
  messagesPath: string;
  /** Begins the ids of connections, for balancers. */
  instance: string | undefined;
  /** Lets requests in, where not anybody may come. */
  gate: Gate | undefined;
}

/** The two endpoints of the transport. */
export interface SseEndpoint {
  /** Takes `GET /sse`. */
  open(http: HttpExchange): void;
  /** Takes `POST /messages?sessionId=…`. */
  post(http: HttpExchange): void;
  /** Takes no more connections; those that are open end when their requests in flight are answered. */
  end(): void;
}

interface Connection {
  /** Whose it is: nobody else finds it. */
  principal: string | undefined;
  channel: SseChannel;
  serving: Serving;
}

export function createSseEndpoint(server: McpServer, guard: Guard, options: SseOptions): SseEndpoint {
  const { maxMessageBytes, maxSseConnections, maxSseConnectionsPerPrincipal, messagesPath } = options;
  const shares = new Shares(
    "maxSseConnectionsPerPrincipal",
    "connections of yours are open",
    maxSseConnectionsPerPrincipal,
  );
  const prefix = prefixOf(options.instance);
  const connections = new Map<string, Connection>();
  let ending = false;

  const admit = (http: HttpExchange, method: string, next: (http: HttpExchange) => void): void => {
    const refused = guard(http);
    if (refused !== undefined) return refuse(http, 403, refused);
    allowOrigin(http);
    if (http.method !== method) {
      http.setHeader("allow", `${method}, OPTIONS`);
      if (http.method === "OPTIONS") http.respond(204);
      else refuse(http, 405, `Method not allowed: ${http.method}`);
      return;
    }
    if (options.gate === undefined) next(http);
    else options.gate.admit(http, next, options.path);
  };

  function open(http: HttpExchange): void {
    if (!accepts(http.header("accept"), "text/event-stream")) {
      return refuse(http, 406, "Not acceptable: Accept must list text/event-stream");
    }
    if (ending || connections.size >= maxSseConnections) {
      const what = `as many connections as maxSseConnections allows (${maxSseConnections}) are open; try later`;
      const { code, message, data } = limitError("maxSseConnections", what, maxSseConnections);
      return refuseForNow(
        http,
        ending ? { code, message: "This server is closing" } : { code, message, data },
      );
    }
    const { principal } = http.access;
    let giveBack: () => void;
    try {
      giveBack = shares.take(principal);
    } catch (thrown) {
      return refuseForNow(http, toErrorObject(thrown));
    }
    const id = prefix + crypto.randomUUID();
    http.openStream();
    http.write(`event: endpoint\ndata: ${messagesPath}?sessionId=${id}\n\n`);
    const channel = new SseChannel(http, options);
    const serving = serveChannel(server, channel, options);
    connections.set(id, { principal, channel, serving });
    const callOff = atExpiry(http.access, () => finish(channel, serving));
    http.onOver(() => {
      callOff();
      giveBack();
      connections.delete(id);
    });
  }

  function post(http: HttpExchange): void {
    const id = http.query.get("sessionId");
    if (id === null)
      return refuse(http, 400, "The sessionId is missing: it comes with the stream's first event");
    const connection = connections.get(id);
    // Whose it is not cannot tell it from one that has ended.
    if (connection === undefined || connection.principal !== http.access.principal)
      return refuse(http, 404, "Session not found: its stream has ended; open it again");
    const why = unreadable(http);
    if (why !== undefined) {
      return refuse(http, 415, `Unsupported media type: ${why}`);
    }
    http.readBody(maxMessageBytes, (text, failure) => {
      if (failure instanceof BodyTooLargeError) {
        return refuseTooLarge(http, maxMessageBytes);
      }
      if (failure !== undefined) return http.destroy();
      const messages = parseMessages(text);
      // Once it is accepted its answer is on the stream, where no status can say what it lacks.
      if (refuseScopes(server, http, messages, options.path)) return;
      http.respond(202, "text/plain", "Accepted");
      connection.serving.receive(messages, http.access);
    });
  }

  /** What is in flight is answered first. */
  function finish(channel: SseChannel, serving: Serving): void {
    void serving.finish().then(() => channel.close());
  }

  return {
    open: (http) => admit(http, "GET", open),
    post: (http) => admit(http, "POST", post),
    end() {
      ending = true;
      for (const { channel, serving } of connections.values()) finish(channel, serving);
    },
  };
}

class SseChannel implements Channel {
  readonly #http: HttpExchange;
  readonly #maxBufferedBytes: number;
  readonly #stopKeepAlive: () => void;

  constructor(http: HttpExchange, { maxBufferedBytes, keepAlive }: SseOptions) {
    this.#http = http;
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#stopKeepAlive = every(keepAlive, () => http.write(SSE_KEEP_ALIVE));
  }

  send(text: string): void {
    if (this.#http.write(sseEvent(text)) > this.#maxBufferedBytes) this.#http.destroy();
  }

  /** Messages come by POST, each with what it may do. */
  listen(_onMessage: (text: string) => void, onClose: (cause?: Error) => void): void {
    this.#http.onOver(() => {
      this.#stopKeepAlive();
      onClose();
    });
  }

  async close(): Promise<void> {
    this.#http.end();
  }
}
