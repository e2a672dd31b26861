/** Metrics of the workers of `node:cluster`, gathered by the process that started them: each worker's by itself. */

import cluster from "node:cluster";
import { AggregatorRegistry, Counter, Gauge, type MetricObject, Registry } from "prom-client";
import type { MetricsSource } from "./metrics.ts";

/** In the process that started the workers. */
export interface WorkersMetrics extends MetricsSource {
  /** A worker that died was started again. */
  restarted(): void;
}

type Told = MetricObject & { aggregator?: string };
/** To a worker, and back. */
type Message = { kind: typeof ASK; id: number } | { kind: typeof TOLD; id: number; metrics: Told[] };

const ASK = "patchbay:metrics?";
const TOLD = "patchbay:metrics";
/** Milliseconds for a worker to answer; one that starts or hangs must not keep the others' from being read. */
const PATIENCE = 1000;

/**
 * In a worker: lets the process that started it gather these.
 *
 * @param worker the place that it has among them; whoever takes its place has the same
 */
export function shareMetrics(registry: Registry, worker: string): void {
  // A counter of all together would go down when one dies, and that be read as having begun anew: all counted again.
  registry.setDefaultLabels({ worker });
  process.on("message", async (message: Message) => {
    if (message?.kind !== ASK) return;
    const metrics = await registry.getMetricsAsJSON();
    if (process.connected) process.send?.({ kind: TOLD, id: message.id, metrics }, () => {});
  });
}

/** The metrics of all workers of `node:cluster` that answer, in the process that started them. */
export function metricsOfWorkers(): WorkersMetrics {
  const registry = new Registry();
  const registers = [registry];
  const restarts = new Counter({
    name: "patchbay_worker_restarts_total",
    help: "Workers that died and were started again",
    registers,
  });
  const answering = new Gauge({
    name: "patchbay_workers",
    help: "Workers that answered when their metrics were gathered",
    registers,
  });
  let lastId = 0;

  function gather(): Promise<Told[][]> {
    const id = ++lastId;
    const told: Told[][] = [];
    return new Promise((resolve) => {
      const asked = new Set(Object.values(cluster.workers ?? {}).filter((each) => each?.isConnected()));
      const done = () => {
        clearTimeout(timer);
        cluster.off("message", hear);
        cluster.off("exit", forget);
        resolve(told);
      };
      const forget = (worker: (typeof cluster)["worker"]) => {
        if (asked.delete(worker) && asked.size === 0) done();
      };
      const hear = (worker: (typeof cluster)["worker"], message: Message) => {
        if (message?.kind !== TOLD || message.id !== id) return;
        told.push(message.metrics);
        forget(worker);
      };
      const timer = setTimeout(done, PATIENCE);
      cluster.on("message", hear).on("exit", forget);
      for (const worker of asked) worker?.send({ kind: ASK, id } satisfies Message, () => {});
      if (asked.size === 0) done();
    });
  }

  return {
    contentType: registry.contentType,
    restarted: () => restarts.inc(),
    async text() {
      const told = await gather();
      answering.set(told.length);
      const all = told.flat().map((metric) => ({ ...metric, aggregator: "sum" }));
      return `${await registry.metrics()}\n${await AggregatorRegistry.aggregate([all]).metrics()}`;
    },
  };
}
