/** One connection over a channel: stdio, or memory. Both eras may be spoken on it, even at once. */

import {
  type Channel,
  ErrorCode,
  LATEST_LEGACY,
  limitError,
  type NotificationMessage,
  ProtocolError,
  parseMessage,
  type RequestId,
  type RequestMessage,
  wireOf,
  writeError,
} from "@patchbay/core";
import { type Answer, answer, errorAnswer } from "../answer.ts";
import { Call, type Caller } from "../exchange.ts";
import { legacyReply } from "../legacy/methods.ts";
import { callerOf, initialize, type SessionRecord } from "../legacy/session.ts";
import { declaredVersion, ENVELOPE_WIRE, readEnvelope } from "../modern/envelope.ts";
import { modernReply } from "../modern/methods.ts";
import type { McpServer } from "../server.ts";

/** Requests being answered at once on one connection. */
const DEFAULT_MAX_IN_FLIGHT = 1024;

export interface ChannelOptions {
  /** Requests that may be in flight at once; one more is refused. Default 1024. */
  maxInFlight?: number;
}

/** A connection that is being served. */
export interface Serving {
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
}

/** Serves a connection until its channel closes; what is then in flight is cancelled. */
export function serveChannel(server: McpServer, channel: Channel, options: ChannelOptions = {}): Serving {
  const connection = new Connection(server, channel, options);
  channel.listen(
    (text) => connection.receive(text),
    () => connection.end(),
  );
  return connection;
}

class Connection implements Serving {
  readonly #server: McpServer;
  readonly #channel: Channel;
  readonly #maxInFlight: number;
  readonly #inFlight = new Map<RequestId, Call>();
  #session: SessionRecord | undefined;
  #onIdle: (() => void)[] = [];

  constructor(server: McpServer, channel: Channel, { maxInFlight = DEFAULT_MAX_IN_FLIGHT }: ChannelOptions) {
    this.#server = server;
    this.#channel = channel;
    this.#maxInFlight = maxInFlight;
  }

  receive(text: string): void {
    const message = parseMessage(text);
    switch (message.kind) {
      case "request":
        return this.#request(message);
      case "notification":
        return this.#notification(message);
      case "invalid":
        return this.#channel.send(writeError(message.id, message.error));
    }
  }

  idle(): Promise<void> {
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  end(): void {
    for (const call of this.#inFlight.values()) call.cancel("the connection closed");
    this.#inFlight.clear();
  }

  #request(request: RequestMessage): void {
    const modern = declaredVersion(request.params) !== undefined;
    try {
      if (modern) {
        const caller = readEnvelope(request.params);
        this.#run(request, caller, (call) => modernReply(this.#server, request, call));
      } else if (request.method === "initialize") {
        this.#initialize(request);
      } else {
        this.#legacy(request);
      }
    } catch (thrown) {
      this.#channel.send(
        errorAnswer(modern ? ENVELOPE_WIRE : wireOf(LATEST_LEGACY), request.id, thrown).text,
      );
    }
  }

  #initialize(request: RequestMessage): void {
    if (this.#session !== undefined) {
      throw new ProtocolError(ErrorCode.InvalidRequest, "This connection is initialized already");
    }
    const { record, result } = initialize(this.#server, request.params);
    this.#session = record;
    this.#run(request, callerOf(record), () => result);
  }

  #legacy(request: RequestMessage): void {
    const session = this.#session;
    if (session === undefined && request.method !== "ping") {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        'No session: send "initialize" first, or name the protocol version in params._meta of each request',
      );
    }
    const record = session ?? {
      revision: LATEST_LEGACY,
      client: { info: undefined, capabilities: {} },
      logLevel: "info",
    };
    this.#run(request, callerOf(record), (call) =>
      legacyReply(this.#server, request, call, (level) => {
        record.logLevel = level;
      }),
    );
  }

  #run(request: RequestMessage, caller: Caller, work: (call: Call) => ReturnType<typeof modernReply>): void {
    const { id, method } = request;
    if (this.#inFlight.has(id)) {
      throw new ProtocolError(
        ErrorCode.InvalidRequest,
        `A request with the id ${JSON.stringify(id)} is in flight already`,
      );
    }
    if (this.#inFlight.size >= this.#maxInFlight) {
      throw limitError(
        "maxInFlight",
        `more requests in flight than maxInFlight allows (${this.#maxInFlight})`,
        this.#maxInFlight,
      );
    }
    const call = new Call(caller, (text) => this.#channel.send(text));
    const pending = answer(this.#server, caller.wire, id, method, () => work(call));
    if (pending instanceof Promise) {
      this.#inFlight.set(id, call);
      pending.then((settled) => this.#finish(id, call, settled));
    } else {
      this.#finish(id, call, pending);
    }
  }

  #finish(id: RequestId, call: Call, { text }: Answer): void {
    if (this.#inFlight.get(id) === call) this.#inFlight.delete(id);
    if (!call.cancelled) {
      call.finish();
      this.#channel.send(text);
    }
    if (this.#inFlight.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #notification({ method, params }: NotificationMessage): void {
    if (method !== "notifications/cancelled") return;
    const { requestId, reason } = params;
    const call = this.#inFlight.get(requestId as RequestId);
    call?.cancel(typeof reason === "string" ? reason : undefined);
  }
}
