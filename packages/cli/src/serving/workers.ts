/** `serve --workers`: processes that share a port. The first starts them, starts them again, and ends them. */

import cluster, { type Worker } from "node:cluster";
import { type AddressInfo, createServer } from "node:net";
import type { WorkersMetrics } from "@patchbay/server/metrics";
import type { Context } from "../context.ts";
import { Failure, failed } from "../failure.ts";
import { metricsRefusal, refusal } from "./here.ts";
import { hideSecrets } from "./hide.ts";
import { type Journal, openJournal } from "./journal.ts";
import type { Wanted } from "./load.ts";
import { type FromWorker, isOurs, type ToWorker } from "./messages.ts";
import { type HttpPlan, warningOf } from "./plan.ts";
import { Restarts } from "./restarts.ts";
import { newSecret } from "./secret.ts";
import { serveAsWorker } from "./worker.ts";

/** Milliseconds beyond the drain's own limit after which a worker that has not ended is killed. */
const KILL_AFTER_MS = 2000;

/** Runs in the process that was started and, by the same command line, in each worker. */
export async function serveByWorkers(what: Wanted, plan: HttpPlan, context: Context): Promise<void> {
  if (!cluster.isPrimary) return serveAsWorker(what, plan, context);
  hideSecrets(plan, context.output);
  const journal = await openJournal(plan.log, context.output);
  const scraped = await openMetrics(plan);
  try {
    await new Workers(what.name, plan, context, journal, scraped).run();
  } finally {
    await scraped?.close();
    await journal.close();
  }
}

interface Scraped {
  metrics: WorkersMetrics;
  url: string;
  close(): Promise<void>;
}

async function openMetrics({ metrics: place }: HttpPlan): Promise<Scraped | undefined> {
  if (place === undefined) return undefined;
  const { metricsOfWorkers, serveMetrics } = await import("@patchbay/server/metrics");
  const { port, host } = place;
  const metrics = metricsOfWorkers();
  const serving = await serveMetrics(metrics, { port, host }).catch((thrown) => {
    throw metricsRefusal(thrown, place);
  });
  return { metrics, url: serving.url, close: () => serving.close() };
}

class Workers {
  readonly #name: string;
  readonly #plan: HttpPlan;
  readonly #context: Context;
  readonly #journal: Journal;
  readonly #scraped: Scraped | undefined;
  readonly #secrets: string[];
  /** All of them listen at the same, those too that come when no other is left. */
  #port: number;
  readonly #listening = new Set<Worker>();
  readonly #waiting = new Set<NodeJS.Timeout>();
  #announced = false;
  #stopping = false;
  /** Why it stops, if nobody said it should. */
  #failure: Failure | undefined;
  #onEnd: () => void = () => {};

  constructor(
    name: string,
    plan: HttpPlan,
    context: Context,
    journal: Journal,
    scraped: Scraped | undefined,
  ) {
    this.#journal = journal;
    this.#scraped = scraped;
    this.#name = name;
    this.#plan = plan;
    this.#context = context;
    this.#port = plan.port;
    this.#secrets = plan.secrets.length === 0 ? [newSecret()] : plan.secrets;
  }

  async run(): Promise<void> {
    const { signal } = this.#context;
    // Each worker accepts by itself: a connection that is handed to one which dies before it takes it is never answered.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: process.argv[1], args: process.argv.slice(2) });
    // Whatever ends this process ends them.
    process.once("exit", killAll);
    const { host } = this.#plan;
    if (this.#port === 0) {
      this.#port = await freePort(host).catch((thrown) => {
        throw refusal(thrown, this.#port, host);
      });
    }
    const ended = new Promise<void>((resolve) => {
      this.#onEnd = resolve;
    });
    for (let number = 1; number <= this.#plan.workers; number++)
      this.#start(number, new Restarts(this.#plan.maxRestarts));
    if (signal.aborted) this.#stop();
    else signal.addEventListener("abort", () => this.#stop(), { once: true });
    await ended;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #start(number: number, restarts: Restarts): void {
    const startedAt = Date.now();
    const worker = cluster.fork();
    worker.on("message", (message: unknown) => {
      if (isOurs<FromWorker>(message, "hears", "listening", "failure")) this.#hear(worker, number, message);
    });
    // A channel that breaks is heard of by the exit.
    worker.on("error", () => {});
    worker.once("exit", (code, killedBy) => {
      this.#listening.delete(worker);
      if (this.#stopping) return this.#settle();
      const how = killedBy ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
      this.#again(
        number,
        restarts,
        `Worker ${number} (pid ${worker.process.pid}) ${how}`,
        Date.now() - startedAt,
      );
    });
  }

  #again(number: number, restarts: Restarts, what: string, livedMs: number): void {
    const wait = restarts.after(livedMs);
    if (wait === undefined) {
      const { maxRestarts } = this.#plan;
      return this.#fail(
        failed(
          `${what}. It was started again as often as --max-restarts allows (${maxRestarts}); this ends now.`,
        ),
      );
    }
    this.#journal.warn(`${what}; another is started in ${wait} ms.`, { worker: number });
    const timer = setTimeout(() => {
      this.#waiting.delete(timer);
      this.#scraped?.metrics.restarted();
      this.#start(number, restarts);
    }, wait);
    this.#waiting.add(timer);
  }

  #hear(worker: Worker, number: number, message: FromWorker): void {
    if (message.kind === "hears") {
      const { auth } = this.#plan;
      const clientSecret = auth?.kind === "introspection" ? auth.clientSecret : undefined;
      tell(worker, { kind: "begin", number, secrets: this.#secrets, port: this.#port, clientSecret });
      if (this.#stopping) tell(worker, { kind: "drain" });
      return;
    }
    if (message.kind === "failure") {
      return this.#fail(new Failure(message.failure, message.exitCode, message.message));
    }
    this.#listening.add(worker);
    if (this.#announced || this.#listening.size < this.#plan.workers) return;
    this.#announced = true;
    const { output } = this.#context;
    if (output.json) output.value({ url: message.url });
    const { workers } = this.#plan;
    this.#journal.info(`${this.#name} is served at ${message.url} by ${workers} workers (Ctrl-C ends it)`);
    if (this.#scraped !== undefined) this.#journal.info(`Metrics are at ${this.#scraped.url}`);
    const warning = warningOf(this.#plan);
    if (warning !== undefined) this.#journal.warn(warning);
  }

  /** Each finishes what it does; who does not in time is killed. */
  #stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    for (const timer of this.#waiting) clearTimeout(timer);
    for (const worker of all()) tell(worker, { kind: "drain" });
    const { drainDelay, drainTimeout } = this.#plan;
    setTimeout(
      () => {
        for (const worker of all()) worker.process.kill("SIGKILL");
      },
      drainDelay + drainTimeout + KILL_AFTER_MS,
    ).unref();
    this.#settle();
  }

  #fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#stop();
    // Nobody was told that it serves.
    if (!this.#announced) killAll();
  }

  #settle(): void {
    if (all().every((worker) => worker.isDead())) this.#onEnd();
  }
}

function all(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
}

function killAll(): void {
  for (const worker of all()) worker.process.kill("SIGKILL");
}

async function freePort(host = "127.0.0.1"): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
