/** The requests in flight: found by their ids, held while a user is asked, and ended together. */

import type { LogMessage } from "@patchbay/core";
import { ById } from "./by-id.ts";
import { Deadlines } from "./deadlines.ts";
import type { ConnectionError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { withDoubt } from "./recover.ts";

/** Calls whose late answers are looked at. */
const MAX_GIVEN_UP = 1_000;

export class InFlight {
  readonly deadlines = new Deadlines((now) => this.#expire(now));
  readonly #exchanges = new ById<Exchange>();
  #nextId = 1;
  /** Calls that were given up last, as their late answers are looked at. */
  readonly #givenUp = new Set<number>();

  /** Takes a request up, under an id of its own. */
  add(exchange: Exchange): void {
    exchange.id = this.#nextId++;
    this.#exchanges.add(exchange);
  }

  get(id: number): Exchange | undefined {
    return this.#exchanges.get(id);
  }

  /** The request that it is when there is one alone. */
  get only(): Exchange | undefined {
    return this.#exchanges.size === 1 ? this.#exchanges.all()[0] : undefined;
  }

  in(state: Exchange["state"]): Exchange[] {
    return this.#exchanges.all().filter((exchange) => exchange.state === state);
  }

  /** Takes a request out of flight; nothing when it is not, or no longer, in flight. */
  take(exchange: Exchange | undefined): Exchange | undefined {
    const taken = exchange && this.#exchanges.take(exchange.id);
    if (taken !== undefined && this.#exchanges.size === 0) this.deadlines.rest();
    return taken;
  }

  /**
   * The application is being asked: the clock of the request that it is asked for stands still, or of all in flight
   * where the transport does not tell which that is.
   *
   * @returns to be called once, when it has answered
   */
  hold(requestId: number | undefined): () => void {
    const own = requestId === undefined ? undefined : this.#exchanges.get(requestId);
    const releases = (own === undefined ? this.#exchanges.all() : [own]).map((each) => each.hold());
    return () => {
      for (const release of releases) release();
    };
  }

  /** Tells a log message to the request that it is about, or to all where that is not known. */
  log(message: LogMessage, requestId: number | undefined): void {
    if (requestId !== undefined) this.#exchanges.get(requestId)?.log(message);
    else for (const exchange of this.#exchanges.all()) exchange.log(message);
  }

  /** An answer to this one may still come, and is to be looked at. */
  remember({ id }: Exchange): void {
    this.#givenUp.add(id);
    const [oldest] = this.#givenUp;
    if (this.#givenUp.size > MAX_GIVEN_UP && oldest !== undefined) this.#givenUp.delete(oldest);
  }

  /** @returns whether it was remembered */
  forget(id: number): boolean {
    return this.#givenUp.delete(id);
  }

  /** None of them will be answered; those that were sent may have run. */
  rejectAll(error: ConnectionError): void {
    const all = this.#exchanges.all();
    this.#exchanges.clear();
    this.deadlines.rest();
    const lost = error.told(error.message, true);
    for (const exchange of all) {
      const isSent = exchange.state === "sent";
      exchange.fail(isSent ? withDoubt(lost, exchange.question) : error);
    }
  }

  /** Rejects all, and takes no more. */
  end(error: ConnectionError): void {
    this.deadlines.end();
    this.rejectAll(error);
  }

  #expire(now: number): number {
    let next = Number.POSITIVE_INFINITY;
    for (const exchange of this.#exchanges.all()) {
      if (exchange.expiresAt <= now) exchange.expire();
      else next = Math.min(next, exchange.expiresAt);
    }
    return next;
  }
}
