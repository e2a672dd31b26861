/** Batches of 2025-03-26: over HTTP and over a channel. */

import { channelPair } from "@patchbay/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveChannel } from "../src/transports/channel.ts";
import {
  Events,
  HEADERS,
  type Mounted,
  mount,
  openSession,
  type SessionClient,
  scripted,
} from "./streamable.ts";
import { INITIALIZE, type Json } from "./wire.ts";

const { server, script } = scripted();
const ping = (id: unknown) => ({ jsonrpc: "2.0", id, method: "ping" }) as Json;
const echo = (id: unknown, name = "echo") =>
  ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: { text: `${id}` } } }) as Json;
const NOTIFICATION = { jsonrpc: "2.0", method: "notifications/initialized" };

/** What is said to a batch; nothing when nothing is. */
type Send = (messages: Json[], revision?: string) => Promise<Json[] | Json | undefined>;

let mounted: Mounted;
beforeAll(async () => {
  mounted = await mount(server, { maxBatch: 5 });
});
afterAll(() => mounted.close());

const overHttp: Send = async (messages, revision = "2025-03-26") => {
  const client = await openSession(mounted.url, revision);
  const response = await client.post(messages);
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
};

/** A ping after the batch tells when there is nothing to come. */
const overChannel: Send = (messages, revision = "2025-03-26") =>
  new Promise((resolve) => {
    const [client, served] = channelPair();
    serveChannel(server, served, { maxBatch: 5 });
    client.listen(
      (text) => {
        const message = JSON.parse(text) as Json;
        if (message.id === "init") {
          client.send(JSON.stringify(messages));
          client.send(JSON.stringify(ping("end")));
        } else if (message.id === "end") {
          // What takes a turn has come by then.
          setImmediate(() => setImmediate(() => resolve(undefined)));
        } else resolve(message);
      },
      () => {},
    );
    const params = { ...INITIALIZE, protocolVersion: revision };
    client.send(JSON.stringify({ jsonrpc: "2.0", id: "init", method: "initialize", params }));
  });

describe.each([
  ["HTTP", overHttp],
  ["a channel", overChannel],
])("over %s", (_name, send) => {
  test("requests are answered together, each by its id", async () => {
    const answers = (await send([ping(1), echo("two"), NOTIFICATION, echo(3, "later"), ping(4)])) as Json[];
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    expect([...byId.keys()].sort()).toEqual([1, 3, 4, "two"]);
    expect(byId.get("two")?.result.content[0].text).toBe("two");
    expect(byId.get(3)?.result.content[0].text).toBe("3");
  });

  test("what has no answer gets none", async () => {
    expect(await send([NOTIFICATION, NOTIFICATION])).toBeUndefined();
  });

  test("a member that is no message is answered in its place, and the others are served", async () => {
    const answers = (await send([1, { jsonrpc: "2.0", id: 2, method: 5 }, [], ping(4)] as Json[])) as Json[];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual(
      expect.arrayContaining([
        [undefined, -32600],
        [2, -32600],
        [4, undefined],
      ]),
    );
    expect(answers).toHaveLength(4);
  });

  test("initialize has no place in one", async () => {
    const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE };
    const answers = (await send([initialize, ping(2)])) as Json[];
    expect(answers.map(({ id, error }) => [id, error?.code]).sort()).toEqual([
      [1, -32600],
      [2, undefined],
    ]);
  });

  test("more than maxBatch: refused as a whole, naming the limit", async () => {
    const refused = (await send([1, 2, 3, 4, 5, 6].map(ping))) as Json;
    expect(refused).toMatchObject({ error: { code: -32600, data: { limit: "maxBatch", value: 5 } } });
    expect((await send([1, 2, 3, 4, 5].map(ping))) as Json[]).toHaveLength(5);
  });

  test("none at all: refused", async () => {
    expect(((await send([])) as Json).error.code).toBe(-32600);
  });

  test.each(["2024-11-05", "2025-06-18", "2025-11-25"])("%s has none", async (revision) => {
    const refused = (await send([ping(1)], revision)) as Json;
    expect(refused.error).toMatchObject({ code: -32600, message: expect.stringContaining("2025-03-26") });
  });

  test("changes of one session add up", async () => {
    const subscribe = (id: number, uri: string) => ({
      jsonrpc: "2.0",
      id,
      method: "resources/subscribe",
      params: { uri },
    });
    const answers = await send([subscribe(1, "test://a"), subscribe(2, "test://b")]);
    expect(answers).toEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, result: {} },
    ]);
  });
});

describe("over HTTP", () => {
  let client: SessionClient;
  beforeAll(async () => {
    client = await openSession(mounted.url, "2025-03-26");
  });

  test("the status is 202 without a request, 400 when refused", async () => {
    const taken = await client.post([NOTIFICATION, NOTIFICATION]);
    expect([taken.status, await taken.text()]).toEqual([202, ""]);
    expect((await client.post([1, 2, 3, 4, 5, 6].map(ping))).status).toBe(400);
    const unknown = { jsonrpc: "2.0", id: "nobody-asked", result: {} };
    expect((await client.post([unknown, unknown])).status).toBe(400);
    expect((await client.post([unknown, NOTIFICATION])).status).toBe(202);
  });

  test("a modern client is told that there are none", async () => {
    const headers = { ...HEADERS, "mcp-protocol-version": "2026-07-28" };
    const response = await fetch(mounted.url, { method: "POST", headers, body: JSON.stringify([ping(1)]) });
    expect([response.status, ((await response.json()) as Json).error.message]).toEqual([
      400,
      expect.stringContaining("2025-03-26"),
    ]);
  });

  test("both subscriptions of a batch are heard of", async () => {
    const unasked = new Events(await client.get());
    const subscribe = (id: number, uri: string) => ({
      jsonrpc: "2.0",
      id,
      method: "resources/subscribe",
      params: { uri },
    });
    await (await client.post([subscribe(1, "test://a"), subscribe(2, "test://b")])).text();
    server.resourceUpdated("test://a");
    server.resourceUpdated("test://b");
    expect([(await unasked.message()).params.uri, (await unasked.message()).params.uri]).toEqual([
      "test://a",
      "test://b",
    ]);
  });

  test("progress comes before the answers, and a request of the batch can be cancelled", async () => {
    const works = (id: string) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "works", arguments: { name: id }, _meta: { progressToken: id } },
    });
    void script("one").tell(1);
    const events = new Events(await client.post([works("one"), works("two"), ping(3)]));
    expect((await events.message()).params).toMatchObject({ progressToken: "one", progress: 1 });
    await client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "two" } });
    await script("two").cancelled;
    await script("one").tell("end");
    const answers = (await events.message()) as unknown as Json[];
    expect(answers.map(({ id }) => id)).toEqual(["one", 3]);
    expect(await events.rest()).toEqual([]);
  });

  test("an id that comes twice is refused the second time", async () => {
    const answers = (await (await client.post([echo(1, "later"), echo(1, "later")])).json()) as Json[];
    expect(answers.map(({ error }) => error?.code).sort()).toEqual([-32600, undefined]);
  });
});
