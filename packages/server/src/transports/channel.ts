/** One connection over a channel: stdio, or memory. Both eras may be spoken on it, even at once. */

import {
  type Channel,
  ErrorCode,
  type InvalidMessage,
  LATEST_LEGACY,
  limitError,
  type Message,
  NO_BATCHES,
  type NotificationMessage,
  ProtocolError,
  parseMessages,
  type RequestId,
  type RequestMessage,
  wireOf,
  writeError,
} from "@patchbay/core";
import { answer, errorAnswer } from "../answer.ts";
import type { Access } from "../auth/access.ts";
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

export interface ChannelOptions extends SubscriptionLimits {
  /** Requests that may be in flight at once; one more is refused. Default 1024. */
  maxInFlight?: number;
  /** Messages in one batch of 2025-03-26. Default 100. */
  maxBatch?: number;
  /** Milliseconds that a legacy client is given to answer a request of ours. Default 10 minutes. */
  answerTimeout?: number;
}

/** A message that came, or a batch. */
type Received = ReturnType<typeof parseMessages>;

/** A connection that is being served. */
export interface Serving {
  /** Takes what did not come over the channel, and what it may do. */
  receive(messages: Received, access?: Access): void;
  /** For when the client sends no more: ends subscriptions and questions, resolves when no request is in flight. */
  finish(): Promise<void>;
}

/** Serves a connection until its channel closes; what is then in flight is cancelled. */
export function serveChannel(server: McpServer, channel: Channel, options: ChannelOptions = {}): Serving {
  const connection = new Connection(server, channel, options);
  channel.listen(
    (text) => connection.receive(parseMessages(text)),
    () => connection.end(),
  );
  return connection;
}

/** Takes the text that answers a message; nothing when it was cancelled. */
type Respond = (text: string | undefined) => void;

class Connection implements Serving {
  readonly #server: McpServer;
  readonly #channel: Channel;
  readonly #key = crypto.randomUUID();
  readonly #maxInFlight: number;
  readonly #maxBatch: number;
  readonly #maxWatched: number | undefined;
  // A map that grows and shrinks keeps what it held alive for a while: a slot that is emptied holds nothing.
  readonly #inFlight = new Map<RequestId, { call: Call | undefined }>();
  readonly #asked: ClientRequests;
  readonly #subscriptions: Subscriptions;
  #session: SessionRecord | undefined;
  #onIdle: (() => void)[] = [];
  #untell: () => void = () => {};

  constructor(server: McpServer, channel: Channel, options: ChannelOptions) {
    const { maxInFlight = 1024, maxBatch = 100, answerTimeout } = options;
    this.#maxBatch = maxBatch;
    this.#maxWatched = options.maxWatched;
    this.#asked = new ClientRequests(answerTimeout);
    this.#subscriptions = new Subscriptions(options, true);
    this.#server = server;
    this.#channel = channel;
    this.#maxInFlight = maxInFlight;
  }

  readonly #send = (text: string): void => this.#channel.send(text);

  receive(message: Received, access?: Access): void {
    if (Array.isArray(message)) this.#batch(message, access);
    else this.#receive(message, access, (answered) => answered !== undefined && this.#channel.send(answered));
  }

  finish(): Promise<void> {
    this.#subscriptions.end();
    this.#asked.close();
    if (this.#inFlight.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  end(): void {
    for (const { call } of this.#inFlight.values()) call?.cancel("the connection closed");
    this.#inFlight.clear();
    this.#asked.close();
    this.#untell();
    // What a session began ends with it; what has no owner goes on, for whoever knows its id.
    const key = this.#session?.key;
    if (key !== undefined) void this.#server.tasks.end(key);
  }

  /** @param respond is called once with what answers the message, or with nothing; not for what has no answer */
  #receive(message: Message | InvalidMessage, access: Access | undefined, respond: Respond): void {
    switch (message.kind) {
      case "request":
        return this.#request(message, access, respond);
      case "notification":
        return this.#notification(message);
      case "invalid":
        if (message.isResponse) return void this.#asked.settle(message);
        return respond(writeError(message.id, message.error));
      default:
        this.#asked.settle(message);
    }
  }

  /** The messages of a batch are taken one by one; their answers leave together (2025-03-26, basic § Batching). */
  #batch(messages: (Message | InvalidMessage)[], access: Access | undefined): void {
    if (this.#session?.revision !== "2025-03-26") {
      return this.#channel.send(writeError(undefined, NO_BATCHES.error));
    }
    if (messages.length > this.#maxBatch) {
      const what = `the batch has more messages than maxBatch allows (${this.#maxBatch})`;
      const { code, message, data } = limitError("maxBatch", what, this.#maxBatch);
      return this.#channel.send(
        writeError(undefined, { code, message, ...(data !== undefined && { data }) }),
      );
    }
    const answers: string[] = [];
    let missing = messages.filter(isAnswered).length;
    const collect: Respond = (text) => {
      if (text !== undefined) answers.push(text);
      if (--missing === 0 && answers.length > 0) this.#channel.send(`[${answers.join(",")}]`);
    };
    for (const message of messages) this.#receive(message, access, collect);
  }

  #request(request: RequestMessage, access: Access | undefined, respond: Respond): void {
    const modern = declaredVersion(request.params) !== undefined;
    try {
      if (modern) {
        const caller = readEnvelope(request.params, access, this.#key);
        const call = modernCall(this.#server, request, caller, this.#send);
        this.#run(request, call, respond, () =>
          modernReply(this.#server, request, call, this.#subscriptions),
        );
      } else if (request.method === "initialize") {
        this.#initialize(request, access, respond);
      } else {
        this.#legacy(request, access, respond);
      }
    } catch (thrown) {
      respond(errorAnswer(modern ? ENVELOPE_WIRE : wireOf(LATEST_LEGACY), request.id, thrown).text);
    }
  }

  #initialize(request: RequestMessage, access: Access | undefined, respond: Respond): void {
    if (this.#session !== undefined) {
      throw new ProtocolError(ErrorCode.InvalidRequest, "This connection is initialized already");
    }
    const { record, result } = initialize(this.#server, request.params, access?.principal);
    const call = this.#legacyCall(record, access);
    const open = () => {
      this.#session = record;
      this.#untell = tellChanges(this.#server, () => this.#session, this.#send);
      return result;
    };
    this.#run(request, call, respond, () => this.#server.through("initialize", request.params, call, open));
  }

  #legacy(request: RequestMessage, access: Access | undefined, respond: Respond): void {
    const session = this.#session;
    if (session === undefined && request.method !== "ping") {
      throw new ProtocolError(
        ErrorCode.InvalidParams,
        'No session: send "initialize" first, or name the protocol version in params._meta of each request',
      );
    }
    // Who has not introduced itself yet may ping.
    const record = session ?? strangerSession(LATEST_LEGACY);
    const call = this.#legacyCall(record, access);
    const keep = (change: (record: SessionRecord) => SessionRecord) =>
      void Object.assign(record, change(record));
    this.#run(request, call, respond, () =>
      legacyReply(this.#server, request, call, { record, keep }, this.#maxWatched),
    );
  }

  #legacyCall(record: SessionRecord, access: Access | undefined): Call {
    return new Call(callerOf(record, access), this.#send, (call) => pushDialogue(call, this.#asked));
  }

  #run(request: RequestMessage, call: Call, respond: Respond, work: () => Reply | Promise<Reply>): void {
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
    const slot: { call: Call | undefined } = { call };
    this.#inFlight.set(id, slot);
    answer(this.#server, call, id, method, work, ({ text }) => {
      slot.call = undefined;
      this.#inFlight.delete(id);
      if (call.cancelled) {
        respond(undefined);
      } else {
        call.finish();
        respond(text);
      }
      if (this.#inFlight.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    });
  }

  #notification({ method, params }: NotificationMessage): void {
    if (method !== "notifications/cancelled") return;
    const { requestId, reason } = params;
    const call = this.#inFlight.get(requestId as RequestId)?.call;
    call?.cancel(typeof reason === "string" ? reason : undefined);
  }
}

function isAnswered(message: Message | InvalidMessage): boolean {
  return message.kind === "request" || (message.kind === "invalid" && !message.isResponse);
}
