/** How often a server may be asked: each who asks has a bucket of tokens, which fills again as time goes by. */

import { ErrorCode, type LimitName, ProtocolError } from "@patchbay/core";

/** A bound on how often something is done. */
export interface Rate {
  /** How often in a second, over time; below 1 for less than once. */
  perSecond: number;
  /** How often at once, after a pause. Default: what a second allows, and at least 1. */
  burst?: number;
}

/**
 * Bounds for each who asks: a principal where requests are authorized, else a legacy session, a connection, or all modern
 * clients over HTTP together.
 */
export interface Rates {
  /** `tools/call`. Default 100,000 a second, 1,000,000 at once: only a client that runs wild gets there. */
  calls?: Rate | false;
  /** `completion/complete`. Default 1000 a second, 10,000 at once. */
  completions?: Rate | false;
  /** `tasks/get` and the other methods of tasks. Default 10,000 a second, 100,000 at once. */
  tasks?: Rate | false;
}

const DEFAULTS: Record<keyof Rates, Rate> = {
  calls: { perSecond: 100_000, burst: 1_000_000 },
  completions: { perSecond: 1000, burst: 10_000 },
  tasks: { perSecond: 10_000, burst: 100_000 },
};

/** Buckets that are remembered: those that this many others have been asked for since are taken for full again. */
const REMEMBERED = 4096;

/** Asked too often: nothing was done. Over HTTP the status is 429, with `Retry-After`. */
export class RateLimitError extends ProtocolError {
  /** Milliseconds after which there is room again. */
  readonly retryAfter: number;

  constructor(limit: LimitName, what: string, { perSecond }: Rate, retryAfter: number) {
    const message = `${what} more often than ${limit} allows (${perSecond} a second); try again in ${retryAfter} ms`;
    super(ErrorCode.InvalidRequest, message, { limit, value: perSecond, retryAfterMs: retryAfter });
    this.name = "RateLimitError";
    this.retryAfter = retryAfter;
  }
}

/** One rate, kept for each who asks. */
export class RateLimit {
  readonly rate: Rate;
  readonly #interval: number;
  readonly #slack: number;
  readonly #now: () => number;
  /** When the bucket of each is full again; those asked for lately, and those before. */
  #recent = new Map<string, number>();
  #before = new Map<string, number>();
  /** The same for all who cannot be told apart. */
  #shared = 0;

  /**
   * @param name of the option, for the error about it
   * @param now a clock in milliseconds that is never set back
   * @throws Error for a rate that is none
   */
  constructor(name: string, rate: Rate, now: () => number = () => performance.now()) {
    const { perSecond, burst = Math.max(1, perSecond) } = rate;
    if (!(perSecond > 0 && Number.isFinite(perSecond)))
      throw new Error(`${name}.perSecond must be a number above 0, not ${perSecond}`);
    if (!(burst >= 1 && Number.isFinite(burst)))
      throw new Error(`${name}.burst must be a number from 1, not ${burst}`);
    this.rate = rate;
    this.#interval = 1000 / perSecond;
    // Half a token more, so that no rounding of times takes one away.
    this.#slack = (burst - 0.5) * this.#interval;
    this.#now = now;
  }

  /**
   * Takes a token.
   *
   * @param who nothing for all who cannot be told apart
   * @returns 0, or the milliseconds until there is one again
   */
  take(who: string | undefined): number {
    const now = this.#now();
    const full = Math.max(now, this.#fullAt(who));
    const wait = full - this.#slack - now;
    // Who is refused and goes on asking is not forgotten either.
    const later = wait > 0 ? full : full + this.#interval;
    if (who === undefined) this.#shared = later;
    else this.#remember(who, later);
    return Math.max(0, Math.ceil(wait));
  }

  #fullAt(who: string | undefined): number {
    if (who === undefined) return this.#shared;
    return this.#recent.get(who) ?? this.#before.get(who) ?? 0;
  }

  #remember(who: string, full: number): void {
    if (this.#recent.size >= REMEMBERED && !this.#recent.has(who)) {
      this.#before = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(who, full);
  }
}

/** Lets a request pass, or refuses it. */
export interface RateGate {
  /** @throws RateLimitError */
  pass(who: string | undefined): void;
}

/** The gates of a server. */
export type RateGates = Record<keyof Rates, RateGate>;

/** @throws Error for a rate that is none */
export function rateGates(rates: Rates): RateGates {
  return {
    calls: gate("calls", "tools are called", rates.calls),
    completions: gate("completions", "completions are asked for", rates.completions),
    tasks: gate("tasks", "tasks are asked about", rates.tasks),
  };
}

function gate(option: keyof Rates, what: string, rate: Rate | false = DEFAULTS[option]): RateGate {
  if (rate === false) return { pass() {} };
  const name = `rates.${option}` as const;
  const limit = new RateLimit(name, rate);
  return {
    pass(who) {
      const wait = limit.take(who);
      if (wait > 0) throw new RateLimitError(name, what, rate, wait);
    },
  };
}
