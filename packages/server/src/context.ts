/** What a handler is given besides its arguments. */

import {
  type CreateMessageParams,
  type CreateMessageResult,
  isAtLeast,
  type JsonObject,
  type LoggingLevel,
  type Parsed,
  type ProgressToken,
  type Revision,
  type Root,
  type Schema,
} from "@patchbay/core";
import type { AuthInfo } from "./auth/access.ts";
import type { ClientDescription, Exchange } from "./exchange.ts";
import {
  type Elicited,
  elicitForm,
  elicitUrl,
  listRoots,
  type QuestionOptions,
  sample,
  type VisitOptions,
} from "./questions.ts";
import { newElicitationId } from "./visits.ts";

/** The handler's view of the request that it answers. */
export class Context {
  #exchange: Exchange;
  readonly #defer: (() => Promise<Exchange>) | undefined;
  readonly #progressToken: ProgressToken | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #deferred = false;
  #visits = 0;

  /** @param defer makes the request a task, where it can become one later than at once */
  constructor(exchange: Exchange, params: JsonObject, defer?: () => Promise<Exchange>) {
    this.#exchange = exchange;
    this.#defer = defer;
    const token = (params._meta as JsonObject | undefined)?.progressToken;
    this.#progressToken =
      typeof token === "string" || Number.isInteger(token) ? (token as ProgressToken) : undefined;
  }

  /** Aborts when the client cancels the request or goes away. Hand it to what you wait for. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  /** Who asks, as the request's token says: verified. Nothing where no tokens are asked for. */
  get auth(): AuthInfo | undefined {
    return this.#exchange.access?.auth;
  }

  /** Who the client says it is, and what it can do. Not verified. */
  get client(): ClientDescription {
    return this.#exchange.client;
  }

  /** The revision of the protocol that this request is spoken in. */
  get revision(): Revision {
    return this.#exchange.revision;
  }

  /**
   * Tells the client how far the work has come, if it asked to be told (basic/patterns/progress).
   * A value that is not above the last one is passed over: progress only grows. On a task the message is its
   * status too.
   *
   * @param total the value that means done, if it is known
   */
  progress(progress: number, total?: number, message?: string): void {
    if (!(progress > this.#progress && Number.isFinite(progress))) return;
    this.#progress = progress;
    if (message !== undefined) this.#exchange.status?.(message);
    if (this.#progressToken === undefined) return;
    this.#exchange.notify("notifications/progress", {
      progressToken: this.#progressToken,
      progress,
      total: Number.isFinite(total) ? total : undefined,
      message,
    });
  }

  /** Says what goes on, for who looks at the task; an ordinary call has nobody who looks, and says nothing. */
  status(message: string): void {
    this.#exchange.status?.(message);
  }

  /**
   * Lets a tool with `task: { deferred: true }` become a task from here on, where its client takes one: the call is
   * answered, and the handler goes on. What was asked before was asked in the call; what is asked from now on is
   * asked by the task. `signal` is another one from now on. Elsewhere it does nothing.
   *
   * @throws ProtocolError that names the limit, when there are too many tasks
   */
  async defer(): Promise<void> {
    if (this.#defer === undefined || this.#deferred) return;
    this.#deferred = true;
    this.#exchange = await this.#defer();
  }

  /**
   * Sends the client a log message, if it asked for messages of this level (server/utilities/logging).
   *
   * @param data any JSON value; never a secret
   * @param logger the part of the server that speaks
   */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    const minimum = this.#exchange.logLevel;
    if (minimum === undefined || !isAtLeast(level, minimum)) return;
    this.#exchange.notify("notifications/message", { level, logger, data: data ?? null });
  }

  /**
   * Asks the user, through the client (client/elicitation). `decline` and `cancel` are answers too.
   *
   * With a modern client the handler is *run again* from its start when the answer is there, on any instance that
   * has the server's state secrets, and this call then gives the answer at once. So a handler has to ask the same
   * questions in the same order each time; what must happen once, or may change, belongs in `step()`.
   *
   * @param what a schema of flat values for a form, or a URL for a page to visit
   * @throws MissingCapabilityError when the client cannot be asked so
   */
  elicit(
    message: string,
    what: URL,
    options?: VisitOptions,
  ): Promise<{ action: "accept" | "decline" | "cancel" }>;
  elicit<S extends Schema>(message: string, what: S, options?: QuestionOptions): Promise<Elicited<Parsed<S>>>;
  elicit(
    message: string,
    what: URL | Schema,
    options?: VisitOptions,
  ): Promise<Elicited<unknown> | { action: string }> {
    const { dialogue } = this.#exchange;
    return what instanceof URL
      ? elicitUrl(dialogue, message, what, options)
      : elicitForm(dialogue, message, what, options);
  }

  /**
   * A new id for a page that the user is sent to, to be part of its URL: by it the page knows which visit it is, and
   * `server.elicitationComplete()` finds the client. It stays the same when the handler is run again.
   */
  elicitationId(): Promise<string> {
    const { dialogue, key } = this.#exchange;
    return dialogue.step(`elicitationId ${++this.#visits}`, () => newElicitationId(key)) as Promise<string>;
  }

  /**
   * Asks the client's model (client/sampling). As with `elicit`, a modern client has the handler run again.
   *
   * @throws MissingCapabilityError when the client has no model to ask, or none that takes tools
   */
  sample(params: CreateMessageParams, options?: QuestionOptions): Promise<CreateMessageResult> {
    return sample(this.#exchange.dialogue, params, options);
  }

  /**
   * Asks where the client lets us work (client/roots). As with `elicit`, a modern client has the handler run again.
   *
   * @throws MissingCapabilityError when the client has no roots
   */
  roots(options?: QuestionOptions): Promise<Root[]> {
    return listRoots(this.#exchange.dialogue, options);
  }

  /**
   * Lets go of the connection of a long request, where the client can come back for what follows: a legacy
   * session over HTTP (SEP-1699). Elsewhere it does nothing.
   *
   * @param retryMs milliseconds after which the client should come back
   */
  detach(retryMs = 1000): void {
    this.#exchange.detach(retryMs);
  }

  /**
   * Does something once, however often the handler is run again, and gives what it gave.
   *
   * @param name of the step, unique in the handler
   * @param run what it gives has to be JSON: it travels, sealed, with the request
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<T> {
    return this.#exchange.dialogue.step(name, run) as Promise<T>;
  }
}
