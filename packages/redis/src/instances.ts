/** The instances that share a Redis: who is there, and what they say to each other. */

import type { JsonValue } from "@patchbay/core";
import type { EventLog, InstanceMessage, Instances } from "@patchbay/server/http";
import type { RedisConnection, Reply } from "./connection.ts";

/** What goes over a channel. */
interface Envelope {
  from: string;
  /** A message, and the number of the question that it is, if it is one. */
  message?: InstanceMessage;
  ask?: number;
  /** The answer to one of our questions. */
  answerTo?: number;
  answer?: JsonValue;
  /** Whether the sender wants to hear of changes from now on. */
  wants?: boolean;
}

/** Another instance, as it was last seen. */
interface Seen {
  beat: string;
  /** By the clock of this process. */
  at: number;
  wants: boolean;
}

/** Marks an instance as alive; gives 1 if it was not, and lists all that there are. */
const BEAT = `
local added = redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], 3600000)
return { added, redis.call('HGETALL', KEYS[1]) }`;

/** Beats in the time after which an instance is taken for dead. */
const BEATS = 3;

export class RedisInstances implements Instances {
  readonly id = crypto.randomUUID().replaceAll("-", "").slice(0, 12);
  readonly events: EventLog;
  readonly #redis: RedisConnection;
  readonly #deadAfter: number;
  readonly #key: string;
  readonly #everybody: string;
  readonly #listeners = new Set<(message: InstanceMessage, from: string) => JsonValue | undefined>();
  readonly #onGone = new Set<(instance?: string) => void>();
  readonly #onBack = new Set<() => void>();
  readonly #others = new Map<string, Seen>();
  readonly #asked = new Map<number, { instance: string; settle: (answer: JsonValue | undefined) => void }>();
  readonly #beating: ReturnType<typeof setInterval>;
  #lastAsk = 0;
  #beats = 0;
  #wants = false;
  /** When the others were last looked at; not since the connection was lost. */
  #looked: number | undefined;
  /** Whether this instance should be among those that are there. */
  #listed = false;

  constructor(redis: RedisConnection, deadAfter: number, events: EventLog) {
    this.#redis = redis;
    this.#deadAfter = deadAfter;
    this.events = events;
    this.#key = `${redis.prefix}instances`;
    this.#everybody = `${redis.prefix}all`;
    const take = (text: string) => this.#take(JSON.parse(text) as Envelope);
    redis.subscribe(this.#channelOf(this.id), take);
    redis.subscribe(this.#everybody, take);
    redis.onOpen(() => void this.#announce());
    redis.onLost(() => this.#lose());
    redis.onBack(() => void this.#back());
    this.#beating = setInterval(() => this.#beat(), deadAfter / BEATS);
    this.#beating.unref();
  }

  get changesWanted(): boolean {
    // As long as nothing is known of the others, they may want to.
    if (this.#looked === undefined) return true;
    for (const { wants } of this.#others.values()) if (wants) return true;
    return false;
  }

  async wantChanges(wanted: boolean): Promise<void> {
    if (this.#wants === wanted) return;
    this.#wants = wanted;
    await this.#declare();
  }

  /** Tells the others whether this instance wants to hear of changes. */
  async #declare(): Promise<void> {
    await this.#announce();
    // In a Cluster what was published may still be on its way: who counts on it waits until each has heard.
    if (!this.#wants) return;
    const others = [...this.#others.keys()];
    await Promise.all(others.map((other) => this.#ask(other, { wants: true }).catch(() => {})));
  }

  listen(listener: (message: InstanceMessage, from: string) => JsonValue | undefined): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onGone(listener: (instance?: string) => void): () => void {
    this.#onGone.add(listener);
    return () => this.#onGone.delete(listener);
  }

  onBack(listener: () => void): () => void {
    this.#onBack.add(listener);
    return () => this.#onBack.delete(listener);
  }

  /** Whether an instance is there, as far as is known here; one that was never heard of is looked for. */
  async isThere(instance: string): Promise<boolean> {
    if (this.#others.has(instance) || instance === this.id) return true;
    return (await this.#redis.run(this.#key, "HEXISTS", this.#key, instance)) === 1;
  }

  async ask(instance: string, message: InstanceMessage): Promise<JsonValue | undefined> {
    return (await this.isThere(instance)) ? this.#ask(instance, { message }) : undefined;
  }

  #ask(instance: string, what: Partial<Envelope>): Promise<JsonValue | undefined> {
    const ask = ++this.#lastAsk;
    return new Promise((resolve, reject) => {
      // An instance that is there but does not answer is as good as gone.
      const timer = setTimeout(() => settle(undefined), this.#deadAfter);
      timer.unref();
      const settle = (answer: JsonValue | undefined) => {
        clearTimeout(timer);
        this.#asked.delete(ask);
        resolve(answer);
      };
      this.#asked.set(ask, { instance, settle });
      this.#publish(this.#channelOf(instance), { ...what, from: this.id, ask }).catch((thrown) => {
        clearTimeout(timer);
        this.#asked.delete(ask);
        reject(thrown);
      });
    });
  }

  async tell(instance: string, message: InstanceMessage): Promise<void> {
    await this.#publish(this.#channelOf(instance), { from: this.id, message });
  }

  async tellAll(message: InstanceMessage): Promise<void> {
    if (this.#looked !== undefined && this.#others.size === 0) return;
    await this.#publish(this.#everybody, { from: this.id, message });
  }

  /** Tells the others at once that it is gone. */
  async close(): Promise<void> {
    clearInterval(this.#beating);
    // The connection keeps no process alive, but this is to be said before the process ends.
    const held = setTimeout(() => {}, this.#deadAfter);
    await this.#redis.run(this.#key, "HDEL", this.#key, this.id).catch(() => {});
    clearTimeout(held);
  }

  #channelOf(instance: string): string {
    return `${this.#redis.prefix}to:${instance}`;
  }

  #publish(channel: string, envelope: Envelope): Promise<Reply> {
    return this.#redis.run(channel, "PUBLISH", channel, JSON.stringify(envelope));
  }

  #take({ from, message, ask, answerTo, answer, wants }: Envelope): void {
    if (from === this.id) return;
    if (wants !== undefined) {
      const seen = this.#others.get(from);
      if (seen !== undefined) seen.wants = wants;
      else this.#others.set(from, { beat: "", at: performance.now(), wants });
    }
    if (answerTo !== undefined) this.#asked.get(answerTo)?.settle(answer);
    let said: JsonValue | undefined;
    if (message !== undefined) {
      for (const listener of [...this.#listeners]) said = listener(message, from) ?? said;
    }
    if (ask === undefined) return;
    const reply: Envelope = { from: this.id, answerTo: ask, ...(said !== undefined && { answer: said }) };
    this.#publish(this.#channelOf(from), reply).catch(() => {});
  }

  /** The others know at once what this instance is like now, and not by its next beat. */
  async #announce(): Promise<void> {
    this.#beat();
    await this.#publish(this.#everybody, { from: this.id, wants: this.#wants }).catch(() => {});
  }

  #beat(): void {
    const beat = `${++this.#beats}${this.#wants ? "!" : ""}`;
    this.#redis
      .probe(this.#key, "EVAL", BEAT, "1", this.#key, this.id, beat)
      .then((reply) => {
        const [added, found] = reply as [number, string[]];
        const forgotten = this.#listed && added === 1;
        this.#listed = true;
        this.#look(found, forgotten);
        if (forgotten) this.#miss();
      })
      .catch(() => {});
  }

  /**
   * Sees who is there. Time counts only as long as it was looked: a Redis that was away, or a process that was
   * stopped, makes nobody dead.
   *
   * @param forgotten whether Redis had lost the list, or others had taken this instance for dead
   */
  #look(found: string[], forgotten: boolean): void {
    const now = performance.now();
    const paused = this.#looked === undefined || now - this.#looked > (2 * this.#deadAfter) / BEATS;
    this.#looked = now;
    const there = new Set<string>();
    for (let index = 0; index < found.length; index += 2) {
      const [id, beat] = [found[index] as string, found[index + 1] as string];
      if (id === this.id) continue;
      there.add(id);
      const seen = this.#others.get(id);
      if (seen === undefined || seen.beat !== beat) {
        this.#others.set(id, { beat, at: now, wants: beat.endsWith("!") });
      } else if (paused) {
        seen.at = now;
      } else if (now - seen.at > this.#deadAfter) {
        there.delete(id);
        this.#redis.run(this.#key, "HDEL", this.#key, id).catch(() => {});
      }
    }
    for (const [id, seen] of [...this.#others]) {
      if (forgotten && !there.has(id)) Object.assign(seen, { beat: "", at: now });
      const { beat, at } = seen;
      // One that has only announced itself may not have been there to be found.
      if (there.has(id) || (beat === "" && now - at < this.#deadAfter)) continue;
      this.#others.delete(id);
      for (const { instance, settle } of [...this.#asked.values()]) if (instance === id) settle(undefined);
      for (const listener of [...this.#onGone]) listener(id);
    }
  }

  #lose(): void {
    this.#looked = undefined;
    this.#listed = false;
    for (const { settle } of [...this.#asked.values()]) settle(undefined);
    for (const listener of [...this.#onGone]) listener();
  }

  /** The others had given this instance up, and have told it nothing since. */
  #miss(): void {
    for (const listener of [...this.#onGone]) listener();
    void this.#back();
  }

  async #back(): Promise<void> {
    await this.#declare();
    for (const listener of [...this.#onBack]) listener();
  }
}
