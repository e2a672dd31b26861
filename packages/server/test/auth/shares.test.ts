/** What one user may have at once: whoever takes too much is refused, by the limit's name, and nobody else is. */

import { afterEach, expect, test } from "vitest";
import { McpServer } from "../../src/index.ts";
import { type HttpOptions, type HttpServing, sealedSessions } from "../../src/transports/http.ts";
import { Events } from "../streamable.ts";
import type { Json } from "../wire.ts";
import { answerOf, bearer, call, guarded, legacy, modern, textOf } from "./guarded.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** A token is who sent it. */
const AUTH = {
  verify: (subject: string) => ({ issuer: "idp", subject, expiresAt: Date.now() + 60_000 }),
};

/** Has a tool that waits until it is let go. */
async function serve(options: HttpOptions) {
  const server = new McpServer({ name: "shared", version: "1" }, { onError: () => {} });
  const waiting: (() => void)[] = [];
  let onArrival = () => {};
  server.tool("wait", {}, async (_, { auth }) => {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      onArrival();
    });
    return `${auth?.subject}`;
  });
  server.tool("now", {}, () => "now");
  const serving = await guarded(server, AUTH, options);
  open.push(serving);
  return {
    serving,
    letGo: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
    /** Resolves when so many wait. */
    arrived: (count: number) =>
      new Promise<void>((resolve) => {
        onArrival = () => waiting.length >= count && resolve();
        onArrival();
      }),
  };
}

/** What a refusal says: its status and its limit. What is let in is not heard to its end, which may never come. */
async function limitOf(response: Promise<Response>): Promise<unknown> {
  const given = await response;
  if (given.status !== 503) {
    await given.body?.cancel();
    return [given.status];
  }
  const { error } = (await given.json()) as Json;
  expect(given.headers.get("retry-after")).not.toBeNull();
  return [given.status, error.data.limit, error.data.value];
}

const wait = { name: "wait" };
/** For a request that is one too many: let in by mistake, it is answered at once. */
const now = { name: "now" };

test("requests in flight, of both eras together", async () => {
  const { serving, letGo, arrived } = await serve({
    maxRequestsPerPrincipal: 2,
    sessions: sealedSessions({ secrets: ["0123456789abcdef0123456789abcdef"] }),
  });
  const session = await legacy(serving, "ann");
  const running = [modern(serving, "ann", "tools/call", wait), session.post(call(1, "wait"))];
  await arrived(2);
  const another = await legacy(serving, "bob");
  const limit = [503, "maxRequestsPerPrincipal", 2];
  expect(await limitOf(modern(serving, "ann", "tools/call", now))).toEqual(limit);
  expect(await limitOf(session.post(call(2, "now")))).toEqual(limit);
  running.push(modern(serving, "bob", "tools/call", wait), another.post(call(1, "wait")));
  await arrived(4);
  letGo();
  expect((await Promise.all(running.map(answerOf))).map(textOf)).toEqual(["ann", "ann", "bob", "bob"]);
  // What is over makes room.
  const later = modern(serving, "ann", "tools/call", wait);
  await arrived(1);
  letGo();
  expect(textOf(await answerOf(later))).toBe("ann");
});

test("a request that its client gives up makes room when its work is over", async () => {
  const { serving, letGo, arrived } = await serve({ maxRequestsPerPrincipal: 1 });
  const gone = new AbortController();
  const given = modern(serving, "ann", "tools/call", wait, gone.signal).catch(() => {});
  await arrived(1);
  gone.abort();
  await given;
  letGo();
  await expect.poll(async () => (await modern(serving, "ann", "tools/call", now)).status).toBe(200);
});

test("legacy streams, in all their sessions together", async () => {
  const { serving } = await serve({ maxStreamsPerPrincipal: 1 });
  const [one, other, bobs] = [
    await legacy(serving, "ann"),
    await legacy(serving, "ann"),
    await legacy(serving, "bob"),
  ];
  const stream = await one.get();
  expect(stream.status).toBe(200);
  expect(await limitOf(other.get())).toEqual([503, "maxStreamsPerPrincipal", 1]);
  const theirs = await bobs.get();
  expect(theirs.status).toBe(200);
  await stream.body?.cancel();
  await expect
    .poll(async () => {
      const again = await other.get();
      await again.body?.cancel();
      return again.status;
    })
    .toBe(200);
  await theirs.body?.cancel();
});

test("subscriptions", async () => {
  const { serving } = await serve({ maxSubscriptionsPerPrincipal: 1 });
  const filter = { notifications: { toolsListChanged: true } };
  const gone = new AbortController();
  const listen = (token: string, signal?: AbortSignal) =>
    modern(serving, token, "subscriptions/listen", filter, signal);
  const first = await listen("ann", gone.signal);
  expect(await new Events(first).message()).toMatchObject({
    method: "notifications/subscriptions/acknowledged",
  });
  expect(await limitOf(listen("ann"))).toEqual([503, "maxSubscriptionsPerPrincipal", 1]);
  const bobs = await listen("bob");
  expect(bobs.status).toBe(200);
  await bobs.body?.cancel();
  gone.abort();
  await expect
    .poll(async () => {
      const again = await listen("ann");
      await again.body?.cancel();
      return again.status;
    })
    .toBe(200);
});

test("connections of HTTP+SSE", async () => {
  const { serving } = await serve({ maxSseConnectionsPerPrincipal: 1 });
  const connect = (token: string) =>
    fetch(new URL("/sse", serving.url), { headers: { accept: "text/event-stream", ...bearer(token) } });
  const first = await connect("ann");
  expect(await limitOf(connect("ann"))).toEqual([503, "maxSseConnectionsPerPrincipal", 1]);
  const bobs = await connect("bob");
  expect(bobs.status).toBe(200);
  await bobs.body?.cancel();
  await first.body?.cancel();
  await expect
    .poll(async () => {
      const again = await connect("ann");
      await again.body?.cancel();
      return again.status;
    })
    .toBe(200);
});

test("nobody has a share where nobody is known", async () => {
  const server = new McpServer({ name: "open", version: "1" });
  server.tool("look", {}, async () => "looked");
  const serving: HttpServing = await guarded(server, undefined, { maxRequestsPerPrincipal: 0 });
  open.push(serving);
  expect((await modern(serving, undefined, "tools/call", { name: "look" })).status).toBe(200);
});
