/** The events of streams in Redis Streams, for when the instance that sends them is gone. */

import type { RequestId } from "@patchbay/core";
import type { EventLog, LoggedStream, StreamLog } from "@patchbay/server/http";
import type { RedisConnection } from "./connection.ts";

/** Milliseconds that a finished stream is kept, for a client that lost its end. */
const KEPT_FINISHED = 60_000;

/** Begins a stream, in one step with its end: nothing is kept forever. */
const OPEN = `
redis.call('XADD', KEYS[1], '0-1', 'requests', ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;

export class RedisEventLog implements EventLog {
  readonly #redis: RedisConnection;
  readonly #keptFor: number;

  /** @param keptFor milliseconds after its last event for which a stream is kept */
  constructor(redis: RedisConnection, keptFor: number) {
    this.#redis = redis;
    this.#keptFor = keptFor;
  }

  open(session: string, stream: string, requests: readonly RequestId[]): StreamLog {
    return new Log(this.#redis, this.#key(session, stream), this.#keptFor, JSON.stringify(requests));
  }

  async read(session: string, stream: string, after: number): Promise<LoggedStream | undefined> {
    const key = this.#key(session, stream);
    const entries = (await this.#redis.run(key, "XRANGE", key, "-", "+")) as [id: string, fields: string[]][];
    const events: { seq: number; text: string }[] = [];
    let requests: RequestId[] = [];
    let last: number | undefined;
    let finished = false;
    for (const [id, fields] of entries) {
      const number = Number(id.split("-")[0]);
      // What could not be kept leaves a gap, beyond which nothing is in order.
      if (last !== undefined && number > last + 1) return undefined;
      const field = (name: string) => fields[fields.indexOf(name) + 1] as string;
      requests = JSON.parse(field("requests")) as RequestId[];
      if (fields.includes("end")) finished = true;
      else if (number > after) events.push({ seq: number, text: field("text") });
      last = number;
    }
    if (last === undefined || last < after) return undefined;
    // The first that is kept has to follow what the client has seen.
    const first = Number((entries[0] as [string, string[]])[0].split("-")[0]);
    return first > after + 1 ? undefined : { events, finished, requests };
  }

  #key(session: string, stream: string): string {
    return `${this.#redis.prefix}{${session}}:events:${stream}`;
  }
}

class Log implements StreamLog {
  readonly #redis: RedisConnection;
  readonly #key: string;
  readonly #keptFor: number;
  readonly #requests: string;
  #last = 0;
  #expires = 0;
  /** Once something could not be kept, nothing more is. */
  #broken = false;

  constructor(redis: RedisConnection, key: string, keptFor: number, requests: string) {
    this.#redis = redis;
    this.#key = key;
    this.#keptFor = keptFor;
    this.#requests = requests;
    this.#expires = performance.now() + keptFor / 4;
    this.#send("EVAL", OPEN, "1", key, requests, `${keptFor}`);
  }

  append(seq: number, text: string, oldest: number): void {
    this.#last = seq;
    this.#add(`${seq}-0`, ["text", text], oldest > 1 ? ["MINID", `${oldest}`] : []);
  }

  finish(): void {
    if (this.#broken) return;
    // After the last event, whose number it has.
    this.#add(`${this.#last}-2`, ["end", "1"]);
    this.#send("PEXPIRE", this.#key, `${KEPT_FINISHED}`);
  }

  renew(): void {
    const now = performance.now();
    if (this.#broken || now < this.#expires) return;
    this.#expires = now + this.#keptFor / 4;
    this.#send("PEXPIRE", this.#key, `${this.#keptFor}`);
  }

  forget(): void {
    this.#redis.run(this.#key, "UNLINK", this.#key).catch(() => {});
  }

  #add(id: string, fields: string[], trim: string[] = []): void {
    if (this.#broken) return;
    // A stream that Redis has lost is not begun anew in the middle.
    this.#send("XADD", this.#key, "NOMKSTREAM", ...trim, id, "requests", this.#requests, ...fields);
    this.renew();
  }

  #send(...args: string[]): void {
    this.#redis.run(this.#key, ...args).then(
      (reply) => {
        if (reply === null) this.#broken = true;
      },
      () => {
        this.#broken = true;
      },
    );
  }
}
