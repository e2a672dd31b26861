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
import type { Reply } from "../dispatch.ts";
import { Call } from "../exchange.ts";
import { legacyReply } from "../legacy/methods.ts";
import { ClientRequests, pushDialogue } from "../legacy/push.ts";
import { callerOf, initialize, type SessionRecord, strangerSession } from "../legacy/session.ts";
import { tellChanges } from "../legacy/subscriptions.ts";
import { declaredVersion, ENVELOPE_WIRE, readEnvelope } from "../modern/envelope.ts";
import { modernCall, modernReply } from "../modern/methods.ts";
import { type SubscriptionLimits, Subscriptions } from "../modern/subscriptions.ts";
import type { McpServer } from "../server.ts";

/** Requests being answered at once on one connection. */
const DEFAULT_MAX_IN_FLIGHT = 1024;

export interface ChannelOptions extends SubscriptionLimits {
  /** Requests that may be in flight at once; one more is refused. Default 1024. */
  maxInFlight?: number;
  /** Milliseconds that a legacy client is given to answer a request of ours. Default 10 minutes. */
  answerTimeout?: number;
}

/** A connection that is being served. */
export interface Serving {
  /** Ends the subscriptions that are open, and resolves when no request is in flight. */
  finish(): Promise<void>;
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
  readonly #asked: ClientRequests;
  readonly #subscriptions: Subscriptions;
  #session: SessionRecord | undefined;
  #onIdle: (() => void)[] = [];
  #untell: () => void = () => {};

  constructor(server: McpServer, channel: Channel, options: ChannelOptions) {
    const { maxInFlight = DEFAULT_MAX_IN_FLIGHT, answerTimeout } = options;
    this.#asked = new ClientRequests(answerTimeout);
    this.#subscriptions = new Subscriptions(options);
    this.#server = server;
    this.#channel = channel;
    this.#maxInFlight = maxInFlight;
  }

  readonly #send = (text: string): void => this.#channel.send(text);

  receive(text: string): void {
    const message = parseMessage(text);
    switch (message.kind) {
      case "request":
        return this.#request(message);
      case "notification":
        return this.#notification(message);
      case "invalid":
        return this.#channel.send(writeError(message.id, message.error));
      default:
        this.#asked.settle(message);
    }
  }

  finish(): Promise<void> {
    this.#subscriptions.end();
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  end(): void {
    for (const call of this.#inFlight.values()) call.cancel("the connection closed");
    this.#inFlight.clear();
    this.#asked.close();
    this.#untell();
  }

  #request(request: RequestMessage): void {
    const modern = declaredVersion(request.params) !== undefined;
    try {
      if (modern) {
        const caller = readEnvelope(request.params);
        const call = modernCall(this.#server, request, caller, this.#send);
        this.#run(request, call, () => modernReply(this.#server, request, call, this.#subscriptions));
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
    this.#untell = tellChanges(this.#server, () => this.#session, this.#send);
    this.#run(request, this.#legacyCall(record), () => result);
  }

  #legacy(request: RequestMessage): void {
    const session = this.#session;
    if (session === undefined && request.method !== "ping") {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        'No session: send "initialize" first, or name the protocol version in params._meta of each request',
      );
    }
    // Who has not introduced itself yet may ping.
    const record = session ?? strangerSession(LATEST_LEGACY);
    const call = this.#legacyCall(record);
    const keep = (change: Partial<SessionRecord>) => void Object.assign(record, change);
    this.#run(request, call, () => legacyReply(this.#server, request, call, { record, keep }));
  }

  #legacyCall(record: SessionRecord): Call {
    return new Call(callerOf(record), this.#send, (call) => pushDialogue(call, this.#asked));
  }

  #run(request: RequestMessage, call: Call, work: () => Reply | Promise<Reply>): void {
    const { id, method } = request;
    if (this.#inFlight.has(id)) {
      const taken = JSON.stringify(id);
      throw new ProtocolError(
        ErrorCode.InvalidRequest,
        `A request with the id ${taken} is in flight already`,
      );
    }
    if (this.#inFlight.size >= this.#maxInFlight) {
      const what = `more requests in flight than maxInFlight allows (${this.#maxInFlight})`;
      throw limitError("maxInFlight", what, this.#maxInFlight);
    }
    const pending = answer(this.#server, call.caller.wire, id, method, work);
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
