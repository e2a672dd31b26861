/** One connection to Redis, or to a Cluster: commands that never hang, and channels that are listened to. */

import { UnavailableError } from "@patchbay/core";
import { type Client, createRedis, type RedisOptions } from "./client.ts";

/** What Redis answers, as far as is asked of it here. */
export type Reply = string | number | null | undefined | Reply[];

interface Pending {
  reject: (cause: Error) => void;
  /** The tick in which it was sent. */
  tick: number;
}

/** Looks at commands in one time limit. */
const TICKS = 4;
/** Errors of a Redis that cannot serve now, but may soon. */
const PASSING = /^(LOADING|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|NOREPLICAS|MISCONF)\b/;

export class RedisConnection {
  readonly prefix: string;
  readonly commandTimeout: number;
  readonly #options: RedisOptions;
  readonly #notice: (notice: string) => void;
  readonly #channels = new Map<string, (text: string) => void>();
  readonly #onOpen = new Set<() => void>();
  readonly #onLost = new Set<() => void>();
  readonly #onBack = new Set<() => void>();
  readonly #pending = new Set<Pending>();
  #client: Client;
  /** Counts the clients: what an old one says is passed over. */
  #generation = 0;
  #state: "connecting" | "open" | "away" | "closed" = "connecting";
  /** Since a command was not answered in time, until one is. */
  #stalled = false;
  /** Ticks since the last answer, while one is waited for. */
  #silent = 0;
  #tick = 0;
  readonly #ticking: ReturnType<typeof setInterval>;

  constructor(options: RedisOptions) {
    this.#options = options;
    this.prefix = options.prefix ?? "patchbay:";
    this.commandTimeout = options.commandTimeout ?? 1000;
    this.#notice = options.onNotice ?? ((notice) => console.error(`[redis] ${notice}`));
    this.#client = this.#open();
    this.#ticking = setInterval(() => this.#look(), Math.ceil(this.commandTimeout / TICKS));
    this.#ticking.unref();
  }

  get ready(): boolean {
    return this.#state === "open" && !this.#stalled;
  }

  /**
   * Sends a command.
   *
   * @param key decides which node of a Cluster it goes to
   * @throws UnavailableError when it is not answered in time
   */
  run(key: string, ...args: string[]): Promise<Reply> {
    if (this.#state === "open" && !this.#stalled) return this.#send(key, args);
    // Who starts with us is not turned away for that.
    if (this.#state === "connecting" && this.#tick < TICKS)
      return this.#opened().then(() => this.#send(key, args));
    return Promise.reject(away(this.#stalled ? "it does not answer" : "there is no connection"));
  }

  /** As `run`, and also while it is not known whether it answers: this finds out. */
  probe(key: string, ...args: string[]): Promise<Reply> {
    return this.#state === "open" ? this.#send(key, args) : Promise.reject(away("there is no connection"));
  }

  /** Listens to a channel, from now on and after each loss of the connection. */
  subscribe(channel: string, listener: (text: string) => void): void {
    this.#channels.set(channel, listener);
    // Where that fails the connection is lost, and it is listened to by the next one.
    if (this.#state === "open") this.#client.subscribe(channel, listener).catch(() => {});
  }

  unsubscribe(channel: string): void {
    if (this.#channels.delete(channel) && this.#state === "open") {
      this.#client.unsubscribe(channel).catch(() => {});
    }
  }

  /** Calls back whenever there is a connection, and its channels are listened to. */
  onOpen(listener: () => void): void {
    this.#onOpen.add(listener);
    if (this.#state === "open") listener();
  }

  /** Calls back whenever the connection was lost: something said on a channel may have been missed. */
  onLost(listener: () => void): void {
    this.#onLost.add(listener);
  }

  /** Calls back whenever it answers again after it did not, or was not there. */
  onBack(listener: () => void): void {
    this.#onBack.add(listener);
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#generation++;
    clearInterval(this.#ticking);
    this.#fail("it was closed here");
    this.#client.destroy();
  }

  #send(key: string, args: string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const pending: Pending = { reject, tick: this.#tick };
      this.#pending.add(pending);
      const generation = this.#generation;
      this.#client.run(key, args).then(
        (reply) => {
          this.#pending.delete(pending);
          if (generation === this.#generation) this.#heard();
          resolve(reply as Reply);
        },
        (cause: Error) => {
          this.#pending.delete(pending);
          if (PASSING.test(cause.message)) {
            if (generation === this.#generation) this.#heard();
            // The one that took over is found by connecting again.
            if (cause.message.startsWith("READONLY")) this.#reopen(generation, "it has become a replica");
            return reject(away(cause.message.split(" ", 1)[0] as string, cause));
          }
          // What Redis says of the command itself has a code in capitals; all else is about the connection.
          reject(/^[A-Z]{2,} /.test(cause.message) ? cause : away("the connection was lost", cause));
        },
      );
    });
  }

  #heard(): void {
    this.#silent = 0;
    if (!this.#stalled) return;
    this.#stalled = false;
    this.#notice("Redis answers again");
    for (const listener of this.#onBack) listener();
  }

  /** Gives up what is waited for too long; one look at all costs less than a timer for each. */
  #look(): void {
    this.#tick++;
    if (this.#state !== "open") return;
    for (const pending of this.#pending) {
      if (this.#tick - pending.tick <= TICKS) break;
      this.#pending.delete(pending);
      if (!this.#stalled)
        this.#notice(`Redis did not answer within commandTimeout (${this.commandTimeout} ms)`);
      this.#stalled = true;
      pending.reject(away("it does not answer"));
    }
    if (this.#stalled && ++this.#silent > 4 * TICKS)
      this.#reopen(this.#generation, "it has not answered for long");
  }

  #opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#onOpen.delete(listener);
        reject(away("there is no connection"));
      }, this.commandTimeout);
      const listener = () => {
        clearTimeout(timer);
        this.#onOpen.delete(listener);
        resolve();
      };
      this.onOpen(listener);
    });
  }

  #open(): Client {
    const generation = ++this.#generation;
    const current = () => generation === this.#generation;
    return createRedis(this.#options, {
      ready: (client) => {
        if (current()) void this.#begin(client, generation);
      },
      lost: (cause) => {
        if (current()) this.#lose(cause);
      },
      nodeLost: (node) => {
        if (!current() || this.#state !== "open") return;
        this.#notice(`A node of the Redis Cluster cannot be reached: ${node}`);
        for (const listener of this.#onLost) listener();
      },
      nodeBack: (node) => {
        if (!current() || this.#state !== "open") return;
        this.#notice(`A node of the Redis Cluster is there: ${node}`);
        for (const listener of this.#onBack) listener();
      },
    });
  }

  async #begin(client: Client, generation: number): Promise<void> {
    try {
      for (const [channel, listener] of this.#channels) await client.subscribe(channel, listener);
    } catch {
      // The connection was lost again: it is opened again.
      return;
    }
    if (generation !== this.#generation || this.#state === "open") return;
    const back = this.#state === "away";
    if (back) this.#notice("Redis is back");
    this.#state = "open";
    this.#stalled = false;
    this.#silent = 0;
    for (const listener of [...this.#onOpen]) listener();
    if (back) for (const listener of this.#onBack) listener();
  }

  #lose(cause: string): void {
    if (this.#state === "closed" || this.#state === "away") return;
    this.#notice(`Redis cannot be reached: ${cause}`);
    const wasOpen = this.#state === "open";
    this.#state = "away";
    this.#fail("the connection was lost");
    if (wasOpen) for (const listener of this.#onLost) listener();
  }

  #fail(why: string): void {
    for (const { reject } of this.#pending) reject(away(why));
    this.#pending.clear();
  }

  #reopen(generation: number, why: string): void {
    if (generation !== this.#generation || this.#state !== "open") return;
    this.#lose(why);
    this.#client.destroy();
    this.#client = this.#open();
  }
}

function away(why: string, cause?: Error): UnavailableError {
  return new UnavailableError("Redis", why, cause && { cause });
}
