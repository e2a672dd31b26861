/** One request in flight: its clock, its signal, who listens to it, and how it ends. */

import { isAtLeast, type JsonObject, type LogMessage } from "@patchbay/core";
import type { Deadlines } from "./deadlines.ts";
import { InvalidResponseError, readable, TimeoutError } from "./errors.ts";
import { MAX_DELAY, type RequestOptions, type Settings } from "./options.ts";
import { progressTeller } from "./progress.ts";
import type { Question } from "./question.ts";
import { asksForInput, ROUND_METHODS } from "./rounds.ts";
import { tell } from "./tell.ts";

/** A request that was sent and has no answer yet. */
export class Exchange {
  /** Given when it is taken up; another each time that it is sent again. */
  id = 0;
  readonly question: Question;
  /** It waits for a connection, the server has it, or it waits for its time. */
  state: "held" | "sent" | "delayed" = "held";
  /** Whether it was sent again because its answer was lost; because its session was. */
  lostAnswer = false;
  lostSession = false;
  /** Times that it was sent again because the server wanted it later. */
  retries = 0;
  /** When its time is over, on the clock of `performance.now()`. */
  expiresAt: number;
  readonly #options: RequestOptions;
  readonly #timeout: number;
  readonly #maxTimeout: number;
  readonly #takesTasks: boolean;
  readonly #tellProgress: ((told: JsonObject) => boolean) | undefined;
  readonly #deadlines: Deadlines;
  /** When `maxTimeout` is over, on the same clock. */
  #deadline: number;
  readonly #resolve: (result: JsonObject) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onGiveUp: (exchange: Exchange, error: unknown, why: string) => void;
  readonly #onAbort: (() => void) | undefined;
  #later: NodeJS.Timeout | undefined;
  /** The limit that it comes to first. */
  #limit: "timeout" | "maxTimeout" = "timeout";
  /** Questions of the server that the application is answering meanwhile, and since when there have been any. */
  #questions = 0;
  #askedAt = 0;
  #isOver = false;

  /**
   * @param onGiveUp called when time is over or the caller cancels: with the error, and why in words for the server
   */
  constructor(
    question: Question,
    options: RequestOptions,
    settings: Settings,
    deadlines: Deadlines,
    resolve: (result: JsonObject) => void,
    reject: (error: unknown) => void,
    onGiveUp: (exchange: Exchange, error: unknown, why: string) => void,
  ) {
    this.question = question;
    this.#options = options;
    this.#timeout = options.timeout ?? settings.timeout;
    this.#maxTimeout = Math.max(this.#timeout, options.maxTimeout ?? settings.maxTimeout);
    this.#takesTasks = settings.tasks && question.method === "tools/call";
    this.#deadlines = deadlines;
    const now = performance.now();
    this.expiresAt = now + this.#timeout;
    this.#deadline = now + this.#maxTimeout;
    this.#tellProgress = options.onProgress && progressTeller(options.onProgress);
    deadlines.add(this.expiresAt);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onGiveUp = onGiveUp;
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
    return this.expiresAt - performance.now();
  }

  /** Does something later, unless it is over by then. */
  delay(ms: number, work: () => void): void {
    this.state = "delayed";
    this.#later = setTimeout(work, Math.min(ms, MAX_DELAY));
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
    if (this.#tellProgress?.(told) === true) this.#extend();
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
      this.expiresAt = Number.POSITIVE_INFINITY;
    }
    return () => {
      if (--this.#questions > 0) return;
      this.#deadline += performance.now() - this.#askedAt;
      this.#extend();
    };
  }

  #extend(): void {
    if (this.#isOver || this.#questions > 0) return;
    const next = performance.now() + this.#timeout;
    this.#limit = next < this.#deadline ? "timeout" : "maxTimeout";
    this.expiresAt = Math.min(next, this.#deadline);
    this.#deadlines.add(this.expiresAt);
  }

  /** A notification that belongs to this request alone. */
  notice(method: string, params: JsonObject): void {
    this.question.onNotice?.(method, params);
  }

  log(message: LogMessage): void {
    const { logLevel, onLog } = this.#options;
    if (logLevel === undefined || isAtLeast(message.level, logLevel)) tell(onLog, message);
  }

  /** Its time is over. */
  expire(): void {
    const value = this.#limit === "timeout" ? this.#timeout : this.#maxTimeout;
    this.#onGiveUp(this, new TimeoutError(this.method, this.#limit, value), `${this.#limit} is over`);
  }

  #stop(): void {
    this.#isOver = true;
    if (this.#later !== undefined) clearTimeout(this.#later);
    if (this.#onAbort !== undefined) this.#options.signal?.removeEventListener("abort", this.#onAbort);
  }
}
