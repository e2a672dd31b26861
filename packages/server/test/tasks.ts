/** Tasks as a raw client has them, in either spelling, so that one test body runs over both. */

import { META, TASKS_EXTENSION } from "@patchbay/core";
import { z } from "zod";
import { type Context, McpServer } from "../src/index.ts";
import { type Json, MODERN_META, WIRES, type Wire } from "./wire.ts";

export const TASK_META = {
  [META.clientCapabilities]: {
    ...(MODERN_META[META.clientCapabilities] as Json),
    extensions: { [TASKS_EXTENSION]: {} },
  },
};

/** The wires whose revision has tasks. */
export const TASK_WIRES = WIRES.filter(([name]) => /2026-07-28$|2025-11-25$/.test(name));

/** The transports, at one revision. */
export const wiresAt = (revision: string) => WIRES.filter(([name]) => name.endsWith(revision));

/** Sends a request as a client that takes tasks. */
export function send(wire: Wire, method: string, params: Json = {}): Promise<Json> {
  return wire.request(method, wire.era === "modern" ? { ...params, _meta: TASK_META } : params);
}

/** Calls a tool so that it becomes a task; gives the whole response. */
export function begin(wire: Wire, name: string, args: Json = {}, extra: Json = {}): Promise<Json> {
  const task = wire.era === "legacy" ? { task: {} } : {};
  return send(wire, "tools/call", { name, arguments: args, ...task, ...extra });
}

/** The task of a response, in the newest spelling. */
export function taskIn({ result }: Json): Json {
  const { ttl, pollInterval, ...task } = result.task ?? result;
  return ttl === undefined ? task : { ...task, ttlMs: ttl, pollIntervalMs: pollInterval };
}

/** Begins a task, and gives its id. */
export async function begun(wire: Wire, name: string, args: Json = {}, extra: Json = {}): Promise<string> {
  return taskIn(await begin(wire, name, args, extra)).taskId;
}

export async function get(wire: Wire, taskId: string): Promise<Json> {
  return taskIn(await send(wire, "tasks/get", { taskId }));
}

/** Looks at a task until it is as a test wants it. */
export async function until(wire: Wire, taskId: string, accept: (task: Json) => boolean): Promise<Json> {
  for (;;) {
    const task = await get(wire, taskId);
    if (accept(task)) return task;
    // A turn for the handler: in memory, asking alone would never let it have one.
    await new Promise((next) => setImmediate(next));
  }
}

const isOver = ({ status }: Json) => ["completed", "failed", "cancelled"].includes(status);

/** Waits for a task to be over. */
export function over(wire: Wire, taskId: string): Promise<Json> {
  return until(wire, taskId, isOver);
}

/** Waits for a task's outcome as the original request would have had it: `{ result }` or `{ error }`. */
export async function outcome(wire: Wire, taskId: string): Promise<Json> {
  if (wire.era === "legacy") return wire.request("tasks/result", { taskId });
  const { result, error } = await over(wire, taskId);
  return error === undefined ? { result } : { error };
}

/** A promise that a test settles. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

export const NAME = z.object({ name: z.string() });

/** A server whose tool does what the test gives it. */
export function tool(
  run: (ctx: Context) => unknown,
  task: Json | boolean | "required" = true,
  options: Json = {},
): McpServer {
  const server = new McpServer({ name: "tasks", version: "1" }, { onError: () => {}, ...options });
  server.tool("job", { task, input: z.object({ size: z.number().optional() }) }, async (_args, ctx) => {
    return (await run(ctx)) as string;
  });
  server.tool("plain", {}, () => "plain");
  return server;
}

export async function using<T>(
  open: (server: McpServer) => Promise<Wire>,
  server: McpServer,
  run: (wire: Wire) => Promise<T>,
) {
  const wire = await open(server);
  try {
    await run(wire);
  } finally {
    await wire.close();
  }
}
