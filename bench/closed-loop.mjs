/** The load: a fixed number of calls is kept open until the time is up; each answer is timed and checked. */

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
      .then(() => sample(this.#latencies, this.#answered, ms / 1000))
      .finally(() => {
        clearTimeout(timer);
        this.#settle = undefined;
      });
  }

  /** Takes a JSON-RPC response, whatever slot it is for. */
  answer(message) {
    const n = message.id;
    const slot = (n - FIRST_NUMBER) % this.#slots;
    if (this.#numbers[slot] !== n)
      return this.fail(`answered a request that was not asked: id ${JSON.stringify(n)}`);
    if (message.error)
      return this.fail(`answered with error ${message.error.code}: ${message.error.message}`);
    if (message.result.isError || !this.#call.isRight(message.result, n)) {
      return this.fail(`wrong result: ${JSON.stringify(message.result).slice(0, 200)}`);
    }
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

function sample(latencies, answered, seconds) {
  const sorted = Float64Array.from(latencies).sort();
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { perSecond: sorted.length / seconds, p50: at(0.5), p99: at(0.99), answered, seconds };
}
