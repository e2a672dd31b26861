/** What goes back and forth with one server: each request until its answer, and what is told meanwhile. */

import {
  type Era,
  eraOf,
  type Implementation,
  type InvalidMessage,
  type JsonObject,
  LATEST_LEGACY,
  type LoggingLevel,
  META,
  type Message,
  ProtocolError,
  type RequestId,
  type Revision,
  writeNotification,
  writeRequest,
  writeResult,
} from "@patchbay/core";
import { Answers, type QuestionContext } from "./answers.ts";
import { ConnectionError, readable } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import { InFlight } from "./in-flight.ts";
import { Inbound } from "./inbound.ts";
import { runThrough } from "./middleware.ts";
import { Notifications } from "./notifications.ts";
import type { RequestOptions, Settings } from "./options.ts";
import { paramsOf, type Question } from "./question.ts";
import { type Recovery, timeOfNextTry, withDoubt } from "./recover.ts";
import { deliver } from "./reply.ts";
import type { Change } from "./subscriptions/changes.ts";
import { tell } from "./tell.ts";
import type { PostLimit, Receiver, Transport } from "./transports/transport.ts";

/** What a client begins with, and no server. */
const OPENINGS = ["server/discover", "initialize"];
const NO_OPTIONS: RequestOptions = Object.freeze({});

/** Requests and notifications with one server, over any transport. */
export class Conversation implements Receiver {
  readonly transport: Transport;
  readonly settings: Settings;
  /** Settles when the connection has ended: with the cause, unless we closed it. */
  readonly closed: Promise<Error | undefined>;
  /** What the application answers when the server asks. */
  readonly answers: Answers;
  /** The least severe level asked for; on a modern connection each request carries it. */
  logLevel: LoggingLevel | undefined;
  /** Who the server says it is, once it has. */
  serverInfo: Implementation | undefined;
  /** Is told each change that the server tells of. */
  onChange: ((change: Change) => void) | undefined;
  /** Is told that changes may have been missed. */
  onMissed: (() => void) | undefined;
  /** How a lost session or connection is had again, once one is open. */
  recovery: Recovery | undefined;
  /** Is told what a call was answered with that had been given up. */
  onLateResult: ((result: JsonObject) => void) | undefined;
  #era: Era | undefined;
  #revision: Revision = LATEST_LEGACY;
  readonly #inbound: Inbound;
  #meta = "";
  readonly #inFlight = new InFlight();
  readonly #notifications: Notifications;
  /** A new session or connection is being opened: what is to be sent waits for it. */
  #isRenewing = false;
  readonly #over = new AbortController();
  #closing: Promise<void> | undefined;
  #end: ConnectionError | undefined;
  #settleClosed!: (cause: Error | undefined) => void;

  constructor(transport: Transport, settings: Settings) {
    this.transport = transport;
    this.settings = settings;
    this.logLevel = settings.logLevel;
    this.answers = new Answers(settings);
    this.#inbound = new Inbound({
      answers: this.answers,
      maxQuestions: settings.maxQuestions,
      revision: () => this.#revision,
      context: (signal) => this.contextFor(signal),
      reply: (text) => this.#reply(text),
      hold: (requestId) => this.#inFlight.hold(requestId),
      onFailure: (error) => tell(settings.onWarning, error),
    });
    this.#notifications = new Notifications({
      settings,
      inFlight: this.#inFlight,
      pages: this.answers.pages,
      onChange: (change) => this.onChange?.(change),
      cancel: (id, reason) => this.#inbound.cancel(id, reason),
    });
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    transport.listen(this);
  }

  /** From now on requests are written as this revision has them. */
  speak(revision: Revision): void {
    const { clientInfo } = this.settings;
    const era = eraOf(revision);
    this.#revision = revision;
    this.#meta =
      era === "legacy"
        ? ""
        : `"${META.protocolVersion}":"${revision}","${META.clientInfo}":${JSON.stringify(clientInfo)},` +
          `"${META.clientCapabilities}":${JSON.stringify(this.answers.capabilities(era))}`;
    this.transport.adopt(revision);
  }

  /** What a callback is told of who asks. */
  contextFor(signal: AbortSignal): QuestionContext {
    return { signal, server: this.transport.serverName, serverInfo: this.serverInfo };
  }

  /** A user is being asked: the clocks of all in flight stand still until what is returned is called, once. */
  holdAll(): () => void {
    return this.#inFlight.hold(undefined);
  }

  /** Aborts when the connection has ended for good. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** True when nothing can be asked any more. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Both sides have agreed: what comes in from now on is of this era, and what asked for the other is void. */
  agree(era: Era): void {
    const first = this.#era === undefined;
    this.#era = era;
    if (first)
      this.#inFlight.rejectAll(new ConnectionError("incompatible", `${this.transport.serverName} is ${era}`));
  }

  /**
   * Sends a request and waits for its result.
   *
   * @throws ProtocolError when the server answers with an error
   * @throws TimeoutError after `timeout` without progress, and after `maxTimeout` in any case
   * @throws ConnectionError when no answer can come
   * @throws InvalidResponseError when the answer is not one
   */
  request(question: Question, options: RequestOptions = NO_OPTIONS): Promise<JsonObject> {
    const { middleware } = this.settings;
    if (middleware.length === 0) return this.#send(question, options);
    const { signal } = options;
    const about = { revision: this.#revision, server: this.transport.serverName, signal };
    return runThrough(middleware, question, about, (passed) => this.#send(passed, options));
  }

  #send(question: Question, options: RequestOptions): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (this.#end !== undefined) {
        reject(this.#end);
        return;
      }
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const { deadlines } = this.#inFlight;
      const giveUp = this.#giveUp;
      const exchange = new Exchange(question, options, this.settings, deadlines, resolve, reject, giveUp);
      this.#inFlight.add(exchange);
      this.#transmitUnlessRenewing(exchange);
    });
  }

  /** What is to be sent waits while a connection is being opened, but for what opens it: all would wait for ever. */
  #transmitUnlessRenewing(exchange: Exchange): void {
    if (!this.#isRenewing || exchange.question.opens === true) this.#transmit(exchange);
  }

  #transmit(exchange: Exchange): void {
    const { id, question, options } = exchange;
    const { method, name, mirrored } = question;
    const level = options.logLevel ?? this.logLevel;
    exchange.state = "sent";
    try {
      const text = writeRequest(id, method, paramsOf(question, id, this.#meta, options, level));
      this.transport.send(text, { id, method, name, mirrored });
    } catch (error) {
      // The end of the connection, or a new one, is not far.
      if (error instanceof ConnectionError && error.reason === "closed") exchange.state = "held";
      else this.#inFlight.take(exchange)?.fail(error);
    }
  }

  /** Sends a request again, as a new one; where there is no connection it waits for the next. */
  #sendAgain(exchange: Exchange): void {
    if (this.#inFlight.take(exchange) === undefined) return;
    exchange.state = "held";
    this.#inFlight.add(exchange);
    this.#transmitUnlessRenewing(exchange);
  }

  /**
   * Hears what a legacy server tells of no request in flight: it may be about a task.
   *
   * @returns ends it
   */
  hear(hearer: (method: string, params: JsonObject) => void): () => void {
    return this.#notifications.hear(hearer);
  }

  /** Sends a notification; resolves when the server has it. */
  notify(method: string, params?: object, limit?: PostLimit): Promise<void> {
    return this.transport.post(writeNotification(method, params), limit);
  }

  /** Ends the connection; whatever is in flight is rejected. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#finish(undefined);
      await this.transport.close();
      this.#settleClosed(undefined);
    })();
    return this.#closing;
  }

  onMessage(message: Message | InvalidMessage, requestId?: number): boolean {
    switch (message.kind) {
      case "result":
      case "error":
      case "invalid": {
        const exchange = this.#inFlight.take(this.#exchangeOf(message, requestId));
        if (message.kind === "result") exchange?.answer(message.result);
        else if (message.kind === "error") exchange?.fail(errorOf(message.error));
        else exchange?.refuse(message.error.message);
        if (exchange === undefined && message.kind === "result") this.#late(message);
        return exchange !== undefined;
      }
      case "notification":
        this.#notifications.take(message, this.#era, requestId);
        return true;
      case "request":
        if (this.#era === undefined && OPENINGS.includes(message.method)) {
          const what = `${this.transport.serverName} does not speak MCP: it sends back what it is sent`;
          this.onClose(new ConnectionError("not-mcp", what));
          return true;
        }
        // A legacy server may ask whether we live before all else; a modern one sends no requests.
        if (message.method === "ping" && this.#era !== "modern") this.#reply(writeResult(message.id, "{}"));
        else if (this.#era === "legacy") this.#inbound.take(message, requestId);
        else return false;
        return true;
    }
  }

  onGap(): void {
    this.onMissed?.();
  }

  onFailure(requestId: number, error: Error): void {
    const exchange = this.#inFlight.get(requestId);
    if (exchange === undefined) return;
    if (error instanceof ConnectionError) this.#failed(exchange, error);
    else this.#inFlight.take(exchange)?.fail(error);
  }

  onSessionLost(why: ConnectionError, requestId?: number, isReplaced = false): void {
    if (!isReplaced && this.recovery !== undefined) {
      const { recovery } = this;
      this.#renew(why, () => recovery.renew());
    }
    const exchange = requestId === undefined ? undefined : this.#inFlight.get(requestId);
    if (exchange === undefined) return;
    if (exchange.lostSession || this.recovery === undefined) {
      this.#inFlight.take(exchange)?.fail(why);
      return;
    }
    exchange.lostSession = true;
    this.#sendAgain(exchange);
  }

  onClose(cause?: Error): void {
    if (this.#end !== undefined) return;
    const { recovery } = this;
    if (recovery?.reopens(cause) === true) {
      if (this.#isRenewing) recovery.brokeOff(cause);
      else this.#renew(cause, () => recovery.reopen(cause));
      this.#inbound.end(cause);
      const lost = cause.told(cause.message, true);
      for (const exchange of this.#inFlight.in("sent")) this.#failed(exchange, lost);
      return;
    }
    this.#endFor(cause);
  }

  #endFor(cause: Error | undefined): void {
    const end = this.#finish(cause);
    this.#closing = this.transport.close();
    this.#closing.then(() => this.#settleClosed(cause ?? end));
  }

  /** True from when a connection is lost until it is open again. */
  #renew(why: ConnectionError, work: () => Promise<void>): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    work().then(
      () => {
        if (this.#end !== undefined) return;
        this.#isRenewing = false;
        const waiting = this.#inFlight.in("held");
        tell(this.settings.onSessionLost, why);
        this.recovery?.restore();
        for (const exchange of waiting)
          if (this.#inFlight.get(exchange.id) === exchange) this.#transmit(exchange);
      },
      (error: Error) => {
        this.#isRenewing = false;
        if (this.#end !== undefined) return;
        // What waits has not run, whatever became of the handshake.
        const why = error instanceof ConnectionError ? error.told(error.message, false) : error;
        if (this.transport.reopen !== undefined) return this.#endFor(why);
        for (const exchange of this.#inFlight.in("held")) this.#inFlight.take(exchange)?.fail(why);
      },
    );
  }

  /** A request can get no answer any more; it is sent again where that does nothing twice, or the server wants it so. */
  #failed(exchange: Exchange, error: ConnectionError): void {
    const ms = timeOfNextTry(exchange, error, this.settings);
    if (ms === undefined) this.#inFlight.take(exchange)?.fail(withDoubt(error, exchange.question));
    else if (ms === 0) this.#sendAgain(exchange);
    else exchange.delay(ms, () => this.#sendAgain(exchange));
  }

  /** The request that an answer is for. On a stream of its own nothing but that request is answered. */
  #exchangeOf({ kind, id }: { kind: string; id: RequestId | undefined }, requestId: number | undefined) {
    if (requestId !== undefined) {
      return id === undefined || id === requestId ? this.#inFlight.get(requestId) : undefined;
    }
    if (id !== undefined) return this.#inFlight.get(id as number);
    // A server that could not read our first request may answer it without an id: there is no other it can mean.
    return kind === "error" && this.#era === undefined ? this.#inFlight.only : undefined;
  }

  /** An answer that nobody waits for: the call may have become a task all the same. */
  #late({ id, result }: { id: RequestId; result: JsonObject }): void {
    if (typeof id === "number" && this.#inFlight.forget(id)) this.onLateResult?.(result);
  }

  #reply(text: string): void {
    void deliver(text, (answer) => this.transport.post(answer), this.#over.signal);
  }

  readonly #giveUp = (exchange: Exchange, error: unknown, why: string): void => {
    if (this.#inFlight.take(exchange) === undefined) return;
    exchange.fail(error);
    if (exchange.method === "tools/call" && this.onLateResult !== undefined)
      this.#inFlight.remember(exchange);
    if (exchange.state !== "sent") return;
    const opening = this.#era === undefined || exchange.question.opens === true;
    this.transport.cancel(exchange.id, why, !opening);
  };

  #finish(cause: Error | undefined): ConnectionError {
    const { serverName } = this.transport;
    this.#end =
      cause instanceof ConnectionError
        ? cause
        : new ConnectionError("closed", `The connection to ${serverName} is closed`, cause && { cause });
    this.#over.abort(this.#end);
    this.#inFlight.end(this.#end);
    this.#inbound.end(this.#end);
    return this.#end;
  }
}

function errorOf({ code, message, data }: { code: number; message: string; data?: unknown }): ProtocolError {
  return new ProtocolError(code, readable(message, 2_000), data as ProtocolError["data"]);
}
