/** What a handler is given besides its arguments. */

import {
  isAtLeast,
  type JsonObject,
  type LoggingLevel,
  type ProgressToken,
  type Revision,
} from "@patchbay/core";
import type { ClientDescription, Exchange } from "./exchange.ts";

/** The handler's view of the request that it answers. */
export class Context {
  readonly #exchange: Exchange;
  readonly #progressToken: ProgressToken | undefined;
  #progress = Number.NEGATIVE_INFINITY;

  constructor(exchange: Exchange, params: JsonObject) {
    this.#exchange = exchange;
    const token = (params._meta as JsonObject | undefined)?.progressToken;
    this.#progressToken =
      typeof token === "string" || Number.isInteger(token) ? (token as ProgressToken) : undefined;
  }

  /** Aborts when the client cancels the request or goes away. Hand it to what you wait for. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
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
   * A value that is not above the last one is passed over: progress only grows.
   *
   * @param total the value that means done, if it is known
   */
  progress(progress: number, total?: number, message?: string): void {
    if (this.#progressToken === undefined || !(progress > this.#progress)) return;
    this.#progress = progress;
    this.#exchange.notify("notifications/progress", {
      progressToken: this.#progressToken,
      progress,
      total,
      message,
    });
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
    this.#exchange.notify("notifications/message", { level, logger, data });
  }
}
