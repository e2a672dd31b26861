/** Serves over HTTP in this process, until it is told to stop; then drains. */

import { setTimeout as wait } from "node:timers/promises";
import type { McpServer } from "@patchbay/server";
import type { HttpServing, SessionStore } from "@patchbay/server/http";
import type { Metrics } from "@patchbay/server/metrics";
import type { Context } from "../context.ts";
import { failed, usage } from "../failure.ts";
import { openAuth } from "./auth.ts";
import { hideSecrets } from "./hide.ts";
import { type Journal, openJournal } from "./journal.ts";
import { load, type Wanted } from "./load.ts";
import { type HttpPlan, type MetricsPlace, warningOf } from "./plan.ts";
import { newSecret } from "./secret.ts";

/** A server that is served here. */
interface Served {
  url: string;
  /** Says that it is not ready any more, waits for balancers to see it, and finishes what it does. */
  drain(): Promise<void>;
}

export async function serveHere(what: Wanted, plan: HttpPlan, { output, signal }: Context): Promise<void> {
  hideSecrets(plan, output);
  // Over HTTP nobody needs to read stdout: what a tool prints there is not what it is served for.
  process.stdout.removeAllListeners("error").on("error", () => {});
  const server = await load(what, output);
  const journal = await openJournal(plan.log, output);
  const scraped = await openMetrics(plan);
  const served = await listen(server, plan, journal, scraped?.metrics);
  if (output.json) output.value({ url: served.url });
  journal.info(`${what.name} is served at ${served.url} (Ctrl-C ends it)`);
  if (scraped !== undefined) journal.info(`Metrics are at ${scraped.url}`);
  const warning = warningOf(plan);
  if (warning !== undefined) journal.warn(warning);
  await told(signal);
  await served.drain();
  await scraped?.close();
  await journal.close();
}

export function told(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** @throws Failure when it cannot listen */
export async function listen(
  server: McpServer,
  plan: HttpPlan,
  journal: Journal,
  metrics: Metrics | undefined,
): Promise<Served> {
  const { port, host, path, allowedHosts, secrets, instance } = plan;
  if (secrets.length > 0) server.sealWith(secrets);
  if (journal.observer !== undefined) server.observe(journal.observer);
  const { serveHttp } = await import("@patchbay/server/http");
  const auth = await openAuth(plan.auth, path);
  const { sessions, close } = await openSessions(server, plan, journal);
  const running = await serveHttp(server, {
    port,
    host,
    path,
    allowedHosts,
    sessions,
    instance,
    ...auth,
    ...(metrics && { metrics }),
  }).catch(async (thrown: NodeJS.ErrnoException) => {
    await close();
    throw refusal(thrown, port, host);
  });
  const url = plan.sse ? new URL("/sse", running.url).href : running.url;
  return { url, drain: () => drain(running, close, plan, journal) };
}

async function drain(
  running: HttpServing,
  close: () => Promise<void>,
  { drainDelay, drainTimeout }: HttpPlan,
  journal: Journal,
): Promise<void> {
  if (journal.observer !== undefined) journal.info("draining");
  running.drain();
  await wait(drainDelay);
  await running.close(drainTimeout);
  await close();
  if (journal.observer !== undefined) journal.info("drained");
}

interface Sessions {
  sessions: SessionStore | "stateless";
  /** Lets go of where they live, when nothing is served any more. */
  close(): Promise<void>;
}

async function openSessions(server: McpServer, plan: HttpPlan, journal: Journal): Promise<Sessions> {
  const { sessions, instance } = plan;
  if (sessions.kind === "redis") return openRedis(server, sessions.url, journal);
  const close = async () => {};
  const { memorySessions, sealedSessions } = await import("@patchbay/server/http");
  const named = instance === undefined ? {} : { instance };
  switch (sessions.kind) {
    case "stateless":
      return { sessions: sessions.kind, close };
    case "memory":
      return { sessions: memorySessions(named), close };
    case "sealed": {
      const secrets = sessions.secrets.length === 0 ? [newSecret()] : sessions.secrets;
      // Whichever worker is free takes the next request, and a client's answer too.
      const takesAnswers = plan.workers === 1;
      return { sessions: sealedSessions({ secrets, takesAnswers, ...named }), close };
    }
  }
}

/** Whatever instances can share lives in Redis. */
async function openRedis(server: McpServer, url: string, journal: Journal): Promise<Sessions> {
  const { connectRedis, redisSessions, redisTasks, redisUsedStates } = await import("@patchbay/redis");
  const redis = connectRedis({ url, onNotice: (notice) => journal.warn(notice) });
  server.keepIn({ tasks: redisTasks(redis), usedStates: redisUsedStates(redis) });
  return { sessions: redisSessions(redis), close: () => redis.close() };
}

async function openMetrics({
  metrics: place,
}: HttpPlan): Promise<{ metrics: Metrics; url: string; close(): Promise<void> } | undefined> {
  if (place === undefined) return undefined;
  const { createMetrics, serveMetrics } = await import("@patchbay/server/metrics");
  const metrics = createMetrics();
  const serving = await serveMetrics(metrics, { port: place.port, host: place.host }).catch((thrown) => {
    throw metricsRefusal(thrown, place);
  });
  return { metrics, url: serving.url, close: () => serving.close() };
}

/** Why the metrics cannot be served, in the command's own terms. */
export function metricsRefusal(thrown: NodeJS.ErrnoException, { port, host }: MetricsPlace): Error {
  if (thrown.code === "EADDRINUSE")
    return failed(`Port ${port} is taken. Choose another for the metrics, such as --metrics ${port + 1}.`);
  return cannotListen(thrown, port, "--metrics-host", host) ?? thrown;
}

/** Why it cannot listen, in the command's own terms. */
export function refusal(thrown: NodeJS.ErrnoException, port: number, host: string | undefined): Error {
  if (thrown.code === "EADDRINUSE") {
    return failed(
      `Port ${port} is taken. Choose another, such as --http ${port + 1}, or --http 0 for any free one.`,
    );
  }
  if (thrown.message.startsWith("allowedHosts: "))
    return usage(`${thrown.message.replace("allowedHosts:", "--allow-host:")}.`);
  if (thrown.message.startsWith("The path "))
    return usage(`${thrown.message.replace("The path", "--path")}.`);
  if (thrown.message.includes("allowedHosts")) {
    return usage(
      `${host} can be reached from other machines: name the hosts that clients use, ` +
        `such as --allow-host mcp.example.com (or --allow-host "*" for any), or leave --host out.`,
    );
  }
  return cannotListen(thrown, port, "--host", host) ?? thrown;
}

function cannotListen(
  { code }: NodeJS.ErrnoException,
  port: number,
  option: string,
  host: string | undefined,
): Error | undefined {
  switch (code) {
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
    case "EINVAL":
      return usage(
        `${option} ${host} is no address of this machine, such as 127.0.0.1 or 0.0.0.0 (${code}).`,
      );
    case "EACCES":
      return failed(
        `Port ${port} may not be listened on by this user (EACCES): ports below 1024 are reserved.`,
      );
    default:
      return undefined;
  }
}
