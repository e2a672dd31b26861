/** Serves over HTTP in this process, until it is told to stop; then drains. */

import { setTimeout as wait } from "node:timers/promises";
import type { McpServer } from "@patchbay/server";
import type { HttpServing, SessionStore } from "@patchbay/server/http";
import type { Context } from "../context.ts";
import { failed, usage } from "../failure.ts";
import { load } from "./load.ts";
import type { HttpPlan, SessionsPlan } from "./plan.ts";
import { newSecret } from "./secret.ts";

export async function serveHere(name: string, plan: HttpPlan, { output, signal }: Context): Promise<void> {
  const server = await load(name);
  const running = await listen(server, plan);
  if (output.json) output.value({ url: running.url });
  process.stderr.write(`${name} is served at ${running.url} (Ctrl-C ends it)\n`);
  await drainOn(signal, running, plan);
}

/** @throws Failure when it cannot listen */
export async function listen(server: McpServer, plan: HttpPlan): Promise<HttpServing> {
  const { serveHttp } = await import("@patchbay/server/http");
  const { port, host, path, allowedHosts, secrets, instance } = plan;
  if (secrets.length > 0) server.sealWith(secrets);
  const sessions = await openSessions(plan.sessions, instance);
  return serveHttp(server, { port, host, path, allowedHosts, sessions, instance }).catch(
    (thrown: NodeJS.ErrnoException) => {
      throw refusal(thrown, port, host);
    },
  );
}

/** Waits to be told, says that it is not ready any more, waits for balancers to see it, and finishes what it does. */
export async function drainOn(signal: AbortSignal, running: HttpServing, plan: HttpPlan): Promise<void> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  running.drain();
  await wait(plan.drainDelay);
  await running.close(plan.drainTimeout);
}

async function openSessions(
  plan: SessionsPlan,
  instance: string | undefined,
): Promise<SessionStore | "stateless"> {
  const { memorySessions, sealedSessions } = await import("@patchbay/server/http");
  const named = instance === undefined ? {} : { instance };
  switch (plan.kind) {
    case "stateless":
      return plan.kind;
    case "memory":
      return memorySessions(named);
    case "sealed":
      return sealedSessions({ secrets: plan.secrets.length === 0 ? [newSecret()] : plan.secrets, ...named });
  }
}

/** Why it cannot listen, in the command's own terms. */
function refusal(thrown: NodeJS.ErrnoException, port: number, host: string | undefined): Error {
  if (thrown.code === "EADDRINUSE") {
    return failed(
      `Port ${port} is taken. Choose another, such as --http ${port + 1}, or --http 0 for any free one.`,
    );
  }
  if (thrown.message.includes("allowedHosts")) {
    return usage(
      `${host} can be reached from other machines: name the hosts that clients use, ` +
        `such as --allow-host mcp.example.com (or --allow-host "*" for any), or leave --host out.`,
    );
  }
  return thrown;
}
