/** Metrics for Prometheus: what is asked, what becomes of it, how long it takes, and what is open. */

import type { ServerResponse } from "node:http";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Observer } from "./observer.ts";
import { shareMetrics } from "./worker-metrics.ts";

export { type MetricsServing, type MetricsServingOptions, serveMetrics } from "./transports/http/metrics.ts";
export { metricsOfWorkers, type WorkersMetrics } from "./worker-metrics.ts";

/** What can be scraped. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}

/** The metrics of one process. */
export interface Metrics extends MetricsSource {
  /** Counts requests and sessions of the servers that it observes. */
  readonly observer: Observer;
  /** Counts a response, and what waits in it, until it is over. */
  follow(response: ServerResponse): void;
  /**
   * Is a number that is asked for at each scrape; the sum, where several are read; left out while one cannot be.
   *
   * @returns ends it
   */
  gauge(name: string, help: string, read: () => number | Promise<number>): () => void;
  /**
   * In a worker of `node:cluster`: lets the process that started it gather these, by `metricsOfWorkers`.
   *
   * @param worker the place that it has among them, a label of all its metrics
   */
  share(worker: string): void;
}

/** As a label any other is `other`: a client may write what it likes. */
const METHODS = new Set([
  "completion/complete",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/update",
  "tools/call",
  "tools/list",
]);
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Begins to count. Give it to `serveHttp` as `metrics`, and let it be scraped by `serveMetrics`.
 *
 * @example
 * ```ts
 * const metrics = createMetrics();
 * await serveHttp(server, { metrics });
 * await serveMetrics(metrics, { port: 9464 });
 * ```
 */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: "patchbay_requests_total",
    help: "Requests that were answered, by method, revision and outcome",
    labelNames: ["method", "revision", "outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "patchbay_request_duration_seconds",
    help: "From a request's arrival to its answer; subscriptions are left out",
    labelNames: ["method", "revision"],
    buckets: SECONDS,
    registers,
  });
  let inFlight = 0;
  const sessions = new Counter({
    name: "patchbay_sessions_total",
    help: "Legacy HTTP sessions that were opened, and that their clients deleted",
    labelNames: ["event"],
    registers,
  });
  const refusals = new Counter({
    name: "patchbay_http_refusals_total",
    help: "HTTP responses with a status from 400 up",
    labelNames: ["status"],
    registers,
  });
  const open = new Set<ServerResponse>();
  const readers = new Map<string, Set<() => number | Promise<number>>>();
  const gauge: Metrics["gauge"] = (name, help, read) => {
    const known = readers.get(name);
    const all = known ?? new Set();
    readers.set(name, all.add(read));
    if (known === undefined) {
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          try {
            const numbers = await Promise.all([...all].map((each) => each()));
            this.set(numbers.reduce((sum, each) => sum + each, 0));
          } catch {
            this.remove();
          }
        },
      });
    }
    return () => void all.delete(read);
  };
  gauge(
    "patchbay_requests_in_flight",
    "Requests that are being answered, subscriptions among them",
    () => inFlight,
  );
  gauge("patchbay_http_streams", "Responses of events that are open", () => {
    let streams = 0;
    for (const response of open) if (isStream(response)) streams++;
    return streams;
  });
  gauge("patchbay_http_waiting_bytes", "Bytes that wait for readers, in all responses", () => {
    let bytes = 0;
    for (const response of open) bytes += response.writableLength;
    return bytes;
  });

  // A child by its labels is found once: prom-client would hash them at each call.
  const timed = kept((method, revision) => seconds.labels(method, revision));
  const counted = kept((method, revision, outcome) => requests.labels(method, revision, outcome));

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    observer: {
      request(asked, revision) {
        const method = METHODS.has(asked) ? asked : "other";
        const began = performance.now();
        inFlight++;
        return (outcome) => {
          inFlight--;
          counted(method, revision, outcome).inc();
          if (method === "subscriptions/listen") return;
          timed(method, revision).observe((performance.now() - began) / 1000);
        };
      },
      session: (event) => sessions.inc({ event }),
    },
    follow(response) {
      open.add(response);
      response.once("close", () => {
        open.delete(response);
        if (response.statusCode >= 400) refusals.inc({ status: response.statusCode });
      });
    },
    gauge,
    share: (worker) => shareMetrics(registry, worker),
  };
}

/** A response that is whole ends in the turn in which it begins. */
function isStream(response: ServerResponse): boolean {
  return response.headersSent && !response.writableEnded;
}

function kept<Made>(make: (...labels: string[]) => Made): (...labels: string[]) => Made {
  const made = new Map<string, Made>();
  return (...labels) => {
    const key = labels.join(" ");
    let known = made.get(key);
    if (known === undefined) {
      known = make(...labels);
      made.set(key, known);
    }
    return known;
  };
}
