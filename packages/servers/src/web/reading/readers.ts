/** Threads that read pages: few at a time, each page for so long and in so much memory. */

import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";
import { outOfMemory, type Page, type Source, UnreadableError } from "./page.ts";

export interface ReadingLimits {
  /** Milliseconds that reading one page may take. */
  readingTimeout: number;
  /** Pages that are read at a time. */
  maxReaders: number;
  /** Pages that wait to be read; one more is refused. */
  maxWaiting: number;
  /** Megabytes that a reader may take. */
  maxReaderMegabytes: number;
  /** Characters of one page that are kept. */
  maxPageCharacters: number;
}

/** Milliseconds after which a reader that nobody needs is let go. */
const IDLE = 30_000;

export class Readers {
  readonly #limits: ReadingLimits;
  /** Those that wait for a page, and when each is let go. */
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(limits: ReadingLimits) {
    this.#limits = limits;
  }

  /**
   * Reads a page.
   *
   * @throws UnreadableError when it cannot be read; when `signal` aborts, its reason
   */
  async read(source: Source, signal: AbortSignal): Promise<Page> {
    await this.#turn(signal);
    let worker: Worker | undefined;
    try {
      worker = this.#takeIdle() ?? this.#start();
      const page = await this.#run(worker, source, signal);
      this.#keep(worker);
      return page;
    } catch (error) {
      // One that said why is as good as before; one that broke, or would not stop, is ended.
      if (worker !== undefined && error instanceof ToldError) this.#keep(worker);
      else void worker?.terminate();
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#busy--;
      else next();
    }
  }

  /** Waits until there are few enough at work. */
  async #turn(signal: AbortSignal): Promise<void> {
    const { maxReaders, maxWaiting } = this.#limits;
    signal.throwIfAborted();
    if (this.#busy < maxReaders) {
      this.#busy++;
      return;
    }
    if (this.#waiting.length >= maxWaiting)
      throw new UnreadableError(
        `more pages wait to be read than maxWaiting allows (${maxWaiting}); try again later`,
      );
    // Whoever ends hands its place on.
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      this.#waiting.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #start(): Worker {
    const worker = new Worker(createRequire(import.meta.url).resolve("#page-reader"), {
      // It needs no secret. What a library prints does not belong on stdout, where the protocol is; nobody reads it, as
      // reading it would keep the process alive.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.maxReaderMegabytes },
    });
    // One that breaks while it is ended has nobody to tell.
    worker.on("error", () => {});
    return worker;
  }

  #run(worker: Worker, source: Source, signal: AbortSignal): Promise<Page> {
    const { readingTimeout, maxReaderMegabytes, maxPageCharacters } = this.#limits;
    worker.ref();
    return new Promise<Page>((resolve, reject) => {
      const deadline = setTimeout(
        () =>
          end(
            new UnreadableError(`reading it takes longer than readingTimeout allows (${readingTimeout} ms)`),
          ),
        readingTimeout,
      );
      const onAbort = () => end(signal.reason);
      const onMessage = ({ page, problem }: { page?: Page; problem?: string }) =>
        page === undefined ? end(new ToldError(problem)) : end(undefined, page);
      const onError = (error: Error & { code?: string }) =>
        end(
          error.code === "ERR_WORKER_OUT_OF_MEMORY"
            ? outOfMemory(maxReaderMegabytes)
            : new UnreadableError("the page broke its reader", { cause: error }),
        );
      const onExit = () => end(new UnreadableError("the page broke its reader"));
      const end = (error: unknown, page?: Page) => {
        clearTimeout(deadline);
        signal.removeEventListener("abort", onAbort);
        worker.off("message", onMessage).off("error", onError).off("exit", onExit);
        if (page === undefined) reject(error);
        else resolve(page);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      worker.on("message", onMessage).on("error", onError).on("exit", onExit);
      worker.postMessage({ source, most: maxPageCharacters });
    });
  }

  /** Keeps a reader for the next page, for a while; it holds no process. */
  #keep(worker: Worker): void {
    worker.unref();
    const letGo = () => {
      this.#idle.delete(worker);
      void worker.terminate();
    };
    worker.once("exit", () => this.#idle.delete(worker));
    this.#idle.set(worker, setTimeout(letGo, IDLE).unref());
  }

  #takeIdle(): Worker | undefined {
    const [found] = this.#idle;
    if (found === undefined) return undefined;
    const [worker, timer] = found;
    clearTimeout(timer);
    this.#idle.delete(worker);
    worker.removeAllListeners("exit");
    return worker;
  }
}

/** What the reader itself said of the page. */
class ToldError extends UnreadableError {}
