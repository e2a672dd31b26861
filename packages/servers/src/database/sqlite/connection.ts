/** One process with SQLite, as the server sees it: asked, and killed when it takes too long. */

import { type ChildProcess, fork } from "node:child_process";
import { createRequire } from "node:module";
import { DatabaseError, type DatabaseLimits, limitExceeded } from "../limits.ts";
import { type Exchanges, type Opening, OUT_OF_MEMORY, type Reply } from "./messages.ts";

/** Milliseconds for a process to start: a statement's own time begins after that. */
const START = 30_000;

type Bounds = Pick<DatabaseLimits, "timeout" | "maxMemoryBytes">;

/** Another program was killed in the middle of a change: until that is undone, nothing can be read. */
export class LeftHalfError extends DatabaseError {}

export class SqliteConnection {
  readonly #child: ChildProcess;
  readonly #bounds: Bounds;
  readonly #started: Promise<void>;

  constructor(opening: Opening, bounds: Bounds) {
    this.#bounds = bounds;
    const program = createRequire(import.meta.url).resolve("@patchbay/servers/database/sqlite/process");
    const { SystemRoot } = process.env;
    this.#child = fork(program, [JSON.stringify(opening)], {
      execArgv: [],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      // It needs none of our secrets, and Windows starts nothing without this one.
      env: SystemRoot === undefined ? {} : { SystemRoot },
    });
    this.#child.on("error", () => {});
    this.#started = new Promise((resolve) => this.#child.once("message", () => resolve()));
  }

  get isAlive(): boolean {
    return this.#child.connected && !this.#child.killed;
  }

  /**
   * Asks one thing; nothing else may be asked before it is answered.
   *
   * @throws DatabaseError when it failed, took too long or too much memory; when `signal` aborts, its reason. Unless it
   * failed in its own words, the process is dead then
   */
  async ask<Name extends keyof Exchanges>(
    request: Exchanges[Name]["request"],
    signal: AbortSignal,
  ): Promise<Exchanges[Name]["answer"]> {
    const reply = await this.#reply(request, signal);
    if ("error" in reply)
      throw reply.leftHalf ? new LeftHalfError(reply.error) : new DatabaseError(reply.error);
    return reply.answer as Exchanges[Name]["answer"];
  }

  #reply(request: Exchanges[keyof Exchanges]["request"], signal: AbortSignal): Promise<Reply> {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      let settled = false;
      const settle = () => {
        settled = true;
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
        child.off("message", answered);
        child.off("exit", died);
        child.off("error", failed);
      };
      const end = (reason: unknown) => {
        settle();
        this.end();
        // Only when it has ended are its locks gone.
        const hasEnded = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
        if (hasEnded) reject(reason);
        else child.once("exit", () => reject(reason));
      };
      const answered = (reply: Reply) => {
        settle();
        resolve(reply);
      };
      const cancel = () => end(signal.reason);
      const died = (_code: number | null, by: string | null) => {
        end(by === OUT_OF_MEMORY ? this.#tooLarge() : new DatabaseError("SQLite's process died; try again"));
      };
      const failed = () => end(new DatabaseError("SQLite's process could not be started; try again"));
      let timer = setTimeout(() => end(new DatabaseError("SQLite's process did not start in time")), START);
      if (signal.aborted) return cancel();
      signal.addEventListener("abort", cancel, { once: true });
      child.on("exit", died);
      child.on("error", failed);
      void this.#started.then(() => {
        if (settled) return;
        clearTimeout(timer);
        timer = setTimeout(() => end(this.#tooSlow()), this.#bounds.timeout);
        child.on("message", answered);
        child.send(request, (error) => {
          if (error !== null) end(new DatabaseError("SQLite's process died; try again"));
        });
      });
    });
  }

  #tooSlow(): DatabaseError {
    return limitExceeded(
      "timeout",
      this.#bounds,
      "the statement took longer",
      "ask for less, or use an index",
    );
  }

  #tooLarge(): DatabaseError {
    return limitExceeded(
      "maxMemoryBytes",
      this.#bounds,
      "the statement took more memory",
      "sort or group less",
    );
  }

  /** Lets this program end while the process waits. */
  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  ref(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  /** Lets it close its database, and end. */
  close(): void {
    if (this.isAlive) this.#child.disconnect();
  }

  /** Kills it, whatever it does. */
  end(): void {
    this.#child.kill("SIGKILL");
  }
}
