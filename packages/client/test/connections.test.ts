/** HTTP connections: no more than there are calls at a time, and those of long streams are none of theirs. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connect } from "../src/index.ts";
import { discovered, events, type Hit, httpFixture, result, send } from "./fixtures/http.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const DONE = { resultType: "complete", content: [] };

/** Counts the connections that are made to a server, which answers whatever a modern client asks. */
async function counting(): Promise<{ url: string; connections: () => number }> {
  let connections = 0;
  const server = createServer(async (request, response) => {
    const [body] = [JSON.parse(Buffer.concat(await request.toArray()).toString())];
    const hit: Hit = { verb: "POST", path: "", headers: request.headers, message: body, response };
    if (!discovered(hit)) result(hit, DONE);
  }).on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => new Promise((resolve) => void server.close(resolve).closeAllConnections()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    connections: () => connections,
  };
}

test.each([1, 8])(
  "calls made one after the other, %i at a time, open no more connections",
  async (atATime) => {
    const { url, connections } = await counting();
    const client = await connect(url, { era: "modern" });
    cleanups.unshift(() => client.close());
    const caller = async () => {
      for (let calls = 0; calls < 50; calls++) await client.callTool("a");
    };
    await Promise.all(Array.from({ length: atATime }, caller));
    expect(connections()).toBeLessThanOrEqual(atATime);
  },
);

test("a call that waits for a connection can be given up, and the next one has it", async () => {
  const { url } = await counting();
  const client = await connect(url, { era: "modern" });
  cleanups.unshift(() => client.close());
  await client.callTool("a");
  const giveUp = new AbortController();
  const first = client.callTool("a", {}, { signal: giveUp.signal });
  const second = client.callTool("a");
  giveUp.abort(new Error("no more"));
  await expect(first).rejects.toThrow("no more");
  expect(await second).toMatchObject({ content: [] });
});

test("streams that stay open take no connection away from calls", async () => {
  const fixture = await httpFixture((hit) => {
    if (discovered(hit)) return;
    if (hit.message.method !== "subscriptions/listen") return result(hit, DONE);
    events(hit);
    send(hit.response, {
      method: "notifications/subscriptions/acknowledged",
      params: {
        _meta: { "io.modelcontextprotocol/subscriptionId": hit.message.id },
        notifications: { toolsListChanged: true },
      },
    });
  });
  cleanups.push(fixture.close);
  const client = await connect(fixture.url, { era: "modern", maxConnections: 1 });
  cleanups.unshift(() => client.close());
  for (let streams = 0; streams < 3; streams++) await client.listen({ toolsListChanged: true }, () => {});
  expect(await client.callTool("a")).toMatchObject({ content: [] });
});
