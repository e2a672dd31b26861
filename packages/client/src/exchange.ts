/** One request in flight: its clock, its signal, who listens to it, and how it ends. */

import { isAtLeast, type JsonObject, type LogMessage } from "@patchbay/core";
import { InvalidResponseError, readable, TimeoutError } from "./errors.ts";
import { MAX_DELAY, type RequestOptions, type Settings } from "./options.ts";
import { progressTeller } from "./progress.ts";
import { asksForInput, ROUND_METHODS } from "./rounds.ts";
import { tell } from "./tell.ts";

/** A request that was sent and has no answer yet. */
export class Exchange {
  readonly id: number;
  readonly method: string;
  readonly #options: RequestOptions;
  readonly #timeout: number;
  readonly #maxTimeout: number;
  readonly #takesTasks: boolean;
  readonly #tellProgress: (told: JsonObject) => boolean;
  /** When `maxTimeout` is over, on the clock of `performance.now()`. */
  #deadline: number;
  readonly #resolve: (result: JsonObject) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onGiveUp: (exchange: Exchange, error: unknown, why: string) => void;
  readonly #onAbort: (() => void) | undefined;
  readonly #onNotice: ((method: string, params: JsonObject) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Questions of the server that the application is answering meanwhile, and since when there have been any. */
  #questions = 0;
  #askedAt = 0;

  /**
   * @param onGiveUp called when time is over or the caller cancels: with the error, and why in words for the server
   */
  constructor(
    { id, method }: { id: number; method: string },
    options: RequestOptions,
    settings: Settings,
    { resolve, reject }: { resolve: (result: JsonObject) => void; reject: (error: unknown) => void },
    onNotice: ((method: string, params: JsonObject) => void) | undefined,
    onGiveUp: (exchange: Exchange, error: unknown, why: string) => void,
  ) {
    this.id = id;
    this.method = method;
    this.#options = options;
    this.#timeout = options.timeout ?? settings.timeout;
    this.#maxTimeout = Math.max(this.#timeout, options.maxTimeout ?? settings.maxTimeout);
    this.#takesTasks = settings.tasks && method === "tools/call";
    this.#deadline = performance.now() + this.#maxTimeout;
    this.#tellProgress = progressTeller(options.onProgress);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onNotice = onNotice;
    this.#onGiveUp = onGiveUp;
    if (this.#timeout !== Number.POSITIVE_INFINITY) {
      this.#timer = setTimeout(
        () => this.#expire("timeout", this.#timeout),
        Math.min(this.#timeout, MAX_DELAY),
      );
    }
    const { signal } = options;
    if (signal !== undefined) {
      this.#onAbort = () => onGiveUp(this, signal.reason, "the caller cancelled the request");
      signal.addEventListener("abort", this.#onAbort, { once: true });
    }
  }

  /** The server has answered, be it by questions; whether the answer is one is seen here. */
  answer(result: JsonObject): void {
    this.#stop();
    const { resultType } = result;
    if (resultType === undefined || resultType === "complete") {
      this.#resolve(result);
    } else if (asksForInput(result) && ROUND_METHODS.has(this.method)) {
      this.#resolve(result);
    } else if (resultType === "task" && this.#takesTasks) {
      this.#resolve(result);
    } else if (asksForInput(result)) {
      this.refuse("this method is never answered by a request for input");
    } else {
      this.refuse(`unknown resultType ${readable(JSON.stringify(resultType), 40)}`);
    }
  }

  /** What the server answered is no answer. */
  refuse(what: string): void {
    this.fail(new InvalidResponseError(`${this.method}: the server's answer is not valid: ${what}`));
  }

  fail(error: unknown): void {
    this.#stop();
    this.#reject(error);
  }

  /** Work is being done: the time without an answer starts again, up to `maxTimeout`. Progress only grows. */
  progress(told: JsonObject): void {
    if (this.#tellProgress(told)) this.#extend();
  }

  /**
   * The server has asked something, and waits itself: both clocks stand still until it is answered. Then `timeout`
   * starts again, as with each round of a modern request.
   *
   * @returns to be called once, when it is answered
   */
  hold(): () => void {
    if (this.#questions++ === 0) {
      this.#askedAt = performance.now();
      clearTimeout(this.#timer);
    }
    return () => {
      if (--this.#questions > 0) return;
      this.#deadline += performance.now() - this.#askedAt;
      this.#extend();
    };
  }

  #extend(): void {
    if (this.#timer === undefined || this.#questions > 0) return;
    clearTimeout(this.#timer);
    const left = this.#deadline - performance.now();
    this.#timer =
      left > this.#timeout
        ? setTimeout(() => this.#expire("timeout", this.#timeout), Math.min(this.#timeout, MAX_DELAY))
        : setTimeout(() => this.#expire("maxTimeout", this.#maxTimeout), Math.min(left, MAX_DELAY));
  }

  /** A notification that belongs to this request alone. */
  notice(method: string, params: JsonObject): void {
    this.#onNotice?.(method, params);
  }

  log(message: LogMessage): void {
    const { logLevel, onLog } = this.#options;
    if (logLevel === undefined || isAtLeast(message.level, logLevel)) tell(onLog, message);
  }

  #expire(limit: "timeout" | "maxTimeout", value: number): void {
    this.#onGiveUp(this, new TimeoutError(this.method, limit, value), `${limit} is over`);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#onAbort !== undefined) this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}
