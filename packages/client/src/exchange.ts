/** One request in flight: its clock, its signal, who listens to it, and how it ends. */

import { isAtLeast, type JsonObject, type LogMessage } from "@patchbay/core";
import { InvalidResponseError, readable, TimeoutError } from "./errors.ts";
import { MAX_DELAY, type RequestOptions, type Settings } from "./options.ts";
import { progressTeller } from "./progress.ts";
import type { Question } from "./question.ts";
import { asksForInput, ROUND_METHODS } from "./rounds.ts";
import { tell } from "./tell.ts";

/** A request that was sent and has no answer yet. */
export class Exchange {
  /** Another each time that it is sent. */
  id: number;
  readonly question: Question;
  /** It waits for a connection, the server has it, or it waits for its time. */
  state: "held" | "sent" | "delayed" = "held";
  /** Whether it was sent again because its answer was lost; because its session was. */
  lostAnswer = false;
  lostSession = false;
  /** Times that it was sent again because the server wanted it later. */
  retries = 0;
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
  #timer: NodeJS.Timeout | undefined;
  #later: NodeJS.Timeout | undefined;
  /** When it was last heard of, on the same clock. */
  #heardAt: number;
  /** Questions of the server that the application is answering meanwhile, and since when there have been any. */
  #questions = 0;
  #askedAt = 0;

  /**
   * @param onGiveUp called when time is over or the caller cancels: with the error, and why in words for the server
   */
  constructor(
    id: number,
    question: Question,
    options: RequestOptions,
    settings: Settings,
    resolve: (result: JsonObject) => void,
    reject: (error: unknown) => void,
    onGiveUp: (exchange: Exchange, error: unknown, why: string) => void,
  ) {
    this.id = id;
    this.question = question;
    this.#options = options;
    this.#timeout = options.timeout ?? settings.timeout;
    this.#maxTimeout = Math.max(this.#timeout, options.maxTimeout ?? settings.maxTimeout);
    this.#takesTasks = settings.tasks && question.method === "tools/call";
    this.#heardAt = performance.now();
    this.#deadline = this.#heardAt + this.#maxTimeout;
    this.#tellProgress = progressTeller(options.onProgress);
    this.#resolve = resolve;
    this.#reject = reject;
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

  get method(): string {
    return this.question.method;
  }

  /** The caller's own; the level and who hears of progress are written into the request. */
  get options(): RequestOptions {
    return this.#options;
  }

  /** Milliseconds until it expires, if nothing is heard of it. */
  get timeLeft(): number {
    return Math.min(this.#heardAt + this.#timeout, this.#deadline) - performance.now();
  }

  /** Does something later, unless it is over by then. */
  delay(ms: number, work: () => void): void {
    this.state = "delayed";
    this.#later = setTimeout(work, ms);
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
    this.#heardAt = performance.now();
    const left = this.#deadline - this.#heardAt;
    this.#timer =
      left > this.#timeout
        ? setTimeout(() => this.#expire("timeout", this.#timeout), Math.min(this.#timeout, MAX_DELAY))
        : setTimeout(() => this.#expire("maxTimeout", this.#maxTimeout), Math.min(left, MAX_DELAY));
  }

  /** A notification that belongs to this request alone. */
  notice(method: string, params: JsonObject): void {
    this.question.onNotice?.(method, params);
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
    clearTimeout(this.#later);
    this.#timer = undefined;
    if (this.#onAbort !== undefined) this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}
