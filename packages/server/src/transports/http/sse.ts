/** HTTP+SSE, the transport of 2024-11-05: a GET stream down, a POST for each message up. It is a channel like stdio. */

import { type Channel, limitError, SSE_KEEP_ALIVE, sseEvent } from "@patchbay/core";
import type { McpServer } from "../../server.ts";
import { prefixOf } from "../../sessions/instance.ts";
import { every } from "../../timers.ts";
import { type ChannelOptions, type Serving, serveChannel } from "../channel.ts";
import { BodyTooLargeError, type HttpExchange } from "./exchange.ts";
import { allowOrigin, type Guard } from "./guard.ts";
import { accepts, isJson } from "./headers.ts";
import { refuse, refuseForNow, refuseTooLarge } from "./responses.ts";

export interface SseOptions extends ChannelOptions {
  maxMessageBytes: number;
  maxBufferedBytes: number;
  keepAlive: number;
  /** Connections that may be open at once. */
  maxSseConnections: number;
  /** Where a client is to post its messages. */
  messagesPath: string;
  /** Begins the ids of connections, for balancers. */
  instance: string | undefined;
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
  channel: SseChannel;
  serving: Serving;
}

export function createSseEndpoint(server: McpServer, guard: Guard, options: SseOptions): SseEndpoint {
  const { maxMessageBytes, maxSseConnections, messagesPath } = options;
  const prefix = prefixOf(options.instance);
  const connections = new Map<string, Connection>();
  let ending = false;

  const admit = (http: HttpExchange, method: string): boolean => {
    const refused = guard(http);
    if (refused !== undefined) {
      refuse(http, 403, refused);
      return false;
    }
    allowOrigin(http);
    if (http.method === method) return true;
    http.setHeader("allow", `${method}, OPTIONS`);
    if (http.method === "OPTIONS") http.respond(204);
    else refuse(http, 405, `Method not allowed: ${http.method}`);
    return false;
  };

  return {
    open(http) {
      if (!admit(http, "GET")) return;
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
      const id = prefix + crypto.randomUUID();
      http.openStream();
      http.write(`event: endpoint\ndata: ${messagesPath}?sessionId=${id}\n\n`);
      const channel = new SseChannel(http, options);
      connections.set(id, { channel, serving: serveChannel(server, channel, options) });
      http.onOver(() => connections.delete(id));
    },

    post(http) {
      if (!admit(http, "POST")) return;
      const id = http.query.get("sessionId");
      if (id === null)
        return refuse(http, 400, "The sessionId is missing: it comes with the stream's first event");
      const connection = connections.get(id);
      if (connection === undefined)
        return refuse(http, 404, "Session not found: its stream has ended; open it again");
      if (!isJson(http.header("content-type"))) {
        return refuse(http, 415, "Unsupported media type: the Content-Type must be application/json");
      }
      http.readBody(maxMessageBytes, (text, failure) => {
        if (failure instanceof BodyTooLargeError) {
          return refuseTooLarge(http, maxMessageBytes);
        }
        if (failure !== undefined) return http.destroy();
        http.respond(202, "text/plain", "Accepted");
        connection.channel.receive(text);
      });
    },

    end() {
      ending = true;
      for (const { channel, serving } of connections.values()) {
        void serving.finish().then(() => channel.close());
      }
    },
  };
}

class SseChannel implements Channel {
  readonly #http: HttpExchange;
  readonly #maxBufferedBytes: number;
  readonly #stopKeepAlive: () => void;
  #onMessage: (text: string) => void = () => {};

  constructor(http: HttpExchange, { maxBufferedBytes, keepAlive }: SseOptions) {
    this.#http = http;
    this.#maxBufferedBytes = maxBufferedBytes;
    this.#stopKeepAlive = every(keepAlive, () => http.write(SSE_KEEP_ALIVE));
  }

  send(text: string): void {
    if (this.#http.write(sseEvent(text)) > this.#maxBufferedBytes) this.#http.destroy();
  }

  listen(onMessage: (text: string) => void, onClose: (cause?: Error) => void): void {
    this.#onMessage = onMessage;
    this.#http.onOver(() => {
      this.#stopKeepAlive();
      onClose();
    });
  }

  receive(text: string): void {
    this.#onMessage(text);
  }

  async close(): Promise<void> {
    this.#http.end();
  }
}
