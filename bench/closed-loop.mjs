/** The load: a fixed number of calls is kept open until the time is up; each answer is timed and checked. */

import { KnownAnswer } from "./known-answer.mjs";
import { FIRST_NUMBER } from "./messages.mjs";

/** How long an answer may take before the contender is given up. */
const PATIENCE_MS = 10_000;

/** A contender that answered wrongly, late or not at all; the message goes into the table. */
export class ContenderError extends Error {}

/**
 * @typedef {{ perSecond: number, p50: number, p99: number, answered: number, seconds: number }} Sample
 *   p50 and p99 in milliseconds; `answered` counts those after the time was up as well
 */

export class ClosedLoop {
  #call;
  #slots;
  #send;
  #numbers;
  #sentAt;
  #latencies = [];
  #open = 0;
  #answered = 0;
  /** @type {KnownAnswer | undefined} */
  #known;
  #deadline = 0;
  #settle;

  /**
   * @param {import("./messages.mjs").Call} call
   * @param {number} slots calls open at a time
   * @param {(slot: number, n: number) => void} send
   */
  constructor(call, slots, send) {
    this.#call = call;
    this.#slots = slots;
    this.#send = send;
    this.#numbers = Array.from({ length: slots }, (_, slot) => FIRST_NUMBER + slot);
    this.#sentAt = new Float64Array(slots);
  }

  /** @returns {Promise<Sample>} */
  run(ms) {
    this.#latencies = [];
    this.#answered = 0;
    const start = performance.now();
    this.#deadline = start + ms;
    const timer = setTimeout(
      () => this.fail(`${this.#open} calls not answered within ${PATIENCE_MS / 1000} s`),
      ms + PATIENCE_MS,
    );
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      for (let slot = 0; slot < this.#slots; slot++) this.#next(slot, start);
    })
      .then(() => sampleOf(this.#latencies, this.#answered, ms / 1000))
      .finally(() => {
        clearTimeout(timer);
        this.#settle = undefined;
      });
  }

  /** What an answer is but for its number; undefined before there is one. */
  get known() {
    return this.#known;
  }

  /**
   * Takes an answer as it came, whatever slot it is for.
   *
   * @param {string} text
   * @param {(text: string) => { message: any, notifications: number } | undefined} read parses it, when it has to be
   */
  take(text, read) {
    const n = this.#known?.numberOf(text);
    if (n !== undefined && this.#isOpen(n)) return this.#settled(n);
    const { message, notifications } = read(text) ?? {};
    if (message === undefined) return this.fail(`answered with no message: ${text.slice(0, 200)}`);
    if (message.method !== undefined) return; // not an answer
    if (this.#isRight(message, notifications)) {
      this.#known = new KnownAnswer(text, message.id);
      this.#settled(message.id);
    }
  }

  #isRight({ id, error, result }, notifications) {
    const { reports = false } = this.#call;
    let wrong;
    if (!this.#isOpen(id)) wrong = `answered a request that was not asked: id ${JSON.stringify(id)}`;
    else if (error) wrong = `answered with error ${error.code}: ${error.message}`;
    else if (result.isError || !this.#call.isRight(result, id))
      wrong = `wrong result: ${JSON.stringify(result).slice(0, 200)}`;
    else if (reports && notifications !== 1)
      wrong = `${notifications} notifications of progress before the answer`;
    if (wrong === undefined) return true;
    this.fail(wrong);
    return false;
  }

  #isOpen(n) {
    return this.#numbers[(n - FIRST_NUMBER) % this.#slots] === n;
  }

  #settled(n) {
    const slot = (n - FIRST_NUMBER) % this.#slots;
    const now = performance.now();
    this.#answered++;
    this.#open--;
    this.#numbers[slot] += this.#slots;
    if (now < this.#deadline) {
      this.#latencies.push(now - this.#sentAt[slot]);
      this.#next(slot, now);
    } else if (this.#open === 0) {
      this.#settle?.resolve();
    }
  }

  /** Ends the run with what went wrong. */
  fail(reason) {
    this.#settle?.reject(reason instanceof Error ? reason : new ContenderError(reason));
  }

  #next(slot, now) {
    this.#open++;
    this.#sentAt[slot] = now;
    this.#send(slot, this.#numbers[slot]);
  }
}

/** @param {number[]} latencies in milliseconds @returns {Sample} */
export function sampleOf(latencies, answered, seconds) {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { perSecond: sorted.length / seconds, p50: at(0.5), p99: at(0.99), answered, seconds };
}
