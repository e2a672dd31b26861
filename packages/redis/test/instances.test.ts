/** Instances that share a Redis: a session made on one is served by any. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { Events, gist, openSession, until } from "../../server/test/streamable.ts";
import type { Json, SseEvent } from "../../server/test/wire.ts";
import { at, closeAll, type Instance, startInstance } from "./instances.ts";
import { type SomeRedis, startCluster, startSingle } from "./redis-server.ts";

const idOf = (event: SseEvent | undefined) => event?.id as string;

const KINDS: [kind: string, start: () => Promise<SomeRedis>][] = [
  ["one Redis", startSingle],
  ["a Cluster", startCluster],
];

needs("redis-server")("with", () => {
  describe.each(KINDS)("%s a session that was made on one instance", (_kind, start) => sharing(start));
});

function sharing(start: () => Promise<SomeRedis>): void {
  let redis: SomeRedis;
  let a: Instance;
  let b: Instance;

  beforeAll(async () => {
    redis = await start();
  });
  afterEach(closeAll);
  afterAll(() => redis.stop());

  async function two(options = {}): Promise<void> {
    const shared = { url: redis.url, prefix: `${crypto.randomUUID()}:` };
    [a, b] = [await startInstance(shared, options), await startInstance(shared, options)];
  }

  test("is served by another, as what it is", async () => {
    await two();
    const client = await openSession(a.url, "2025-06-18");
    const elsewhere = at(b, client, "2025-06-18");
    expect(gist((await (await elsewhere.call(1, "echo", { text: "hi" })).json()) as Json)).toBe(
      "answer 1: hi",
    );
    await elsewhere.post({ jsonrpc: "2.0", id: 2, method: "logging/setLevel", params: { level: "error" } });
    expect(await a.sessions.get(client.id)).toMatchObject({
      revision: "2025-06-18",
      logLevel: "error",
      client: { info: { name: "test" } },
    });
  });

  test("hears on one what is subscribed to and changes on the other", async () => {
    await two();
    const client = await openSession(a.url);
    const events = new Events(await client.get());
    await events.next();
    const subscribe = {
      jsonrpc: "2.0",
      id: 1,
      method: "resources/subscribe",
      params: { uri: "test://watched" },
    };
    expect((await at(b, client).post(subscribe)).status).toBe(200);
    b.server.resourceUpdated("test://other");
    b.server.resourceUpdated("test://watched");
    b.server.prompt("new", {}, () => "");
    expect(gist(await events.message())).toBe("notifications/resources/updated");
    expect(gist(await events.message())).toBe("notifications/prompts/list_changed");
  });

  test("loses no subscription when all instances take one at once", async () => {
    await two();
    const client = await openSession(a.url);
    const uris = Array.from({ length: 20 }, (_, index) => `test://${index}`);
    await Promise.all(
      uris.map((uri, index) =>
        at(index % 2 === 0 ? a : b, client).post({
          jsonrpc: "2.0",
          id: index,
          method: "resources/subscribe",
          params: { uri },
        }),
      ),
    );
    expect([...((await a.sessions.get(client.id))?.watched ?? [])].sort()).toEqual(uris.sort());
  });

  test("answers on one what the other asked: once, and only to whoever asked", async () => {
    await two();
    const client = await openSession(a.url);
    void a.script("x").tell("ask");
    const events = new Events(await client.call(1, "works", { name: "x" }));
    const question = await events.message();
    expect(question.method).toBe("elicitation/create");
    const answer = { jsonrpc: "2.0", id: question.id, result: { action: "accept", content: { yes: true } } };
    const stranger = await openSession(b.url);
    expect((await stranger.post(answer)).status).toBe(400);
    expect((await at(b, client).post({ ...answer, id: "nobody-00000000-1" })).status).toBe(400);
    expect((await at(b, client).post(answer)).status).toBe(202);
    expect((await events.message()).params.message).toBe("accept");
    expect((await at(b, client).post(answer)).status).toBe(400);
    await a.script("x").tell("end");
    expect((await events.rest()).map(gist)).toEqual(["answer 1: x done"]);
  });

  test("is cancelled on one where the other carries it out", async () => {
    await two();
    const client = await openSession(a.url);
    const called = client.call("mine", "works", { name: "x" });
    await a.script("x").tell("ready");
    const params = { requestId: "mine", reason: "enough" };
    await at(b, client).post({ jsonrpc: "2.0", method: "notifications/cancelled", params });
    expect(String(await a.script("x").cancelled)).toContain("enough");
    expect(await (await called).text()).toBe("");
  });

  test("ends everywhere when it is deleted anywhere", async () => {
    await two();
    const client = await openSession(a.url);
    const unasked = new Events(await client.get());
    void client.call(1, "works", { name: "x" }).catch(() => {});
    await a.script("x").tell("ready");
    expect((await at(b, client).delete()).status).toBe(204);
    await a.script("x").cancelled;
    expect((await unasked.rest()).map(({ data }) => data)).toEqual([""]);
    for (const instance of [a, b])
      expect((await at(instance, client).call(2, "echo", { text: "" })).status).toBe(404);
    await until(() => a.mounted.endpoint.live === 0);
    expect((await redis.commandAll("KEYS", `*${client.id}*`)).flat()).toEqual([]);
  });

  test("goes on on one with a stream that the other sends: each event once, in order", async () => {
    await two();
    const client = await openSession(a.url);
    const works = a.script("x");
    void works.tell(1);
    let away = new AbortController();
    let events = new Events(await client.call(1, "works", { name: "x" }, away.signal));
    const seen = [(await events.next()) as SseEvent];
    for (let round = 1; round <= 4; round++) {
      away.abort();
      await works.tell(round * 10);
      away = new AbortController();
      const back = await at(round % 2 === 1 ? b : a, client).get(idOf(seen.at(-1)), away.signal);
      events = new Events(back);
      // Told while it comes back, and after.
      await works.tell(round * 10 + 1);
      await works.tell(round * 10 + 2);
      const missed = round === 1 ? 4 : 3;
      for (let count = 0; count < missed; count++) seen.push((await events.next()) as SseEvent);
    }
    away.abort();
    await works.tell("end");
    seen.push(...(await new Events(await at(b, client).get(idOf(seen.at(-1)))).rest()));
    const steps = [1, 2, 3, 4].flatMap((round) => [0, 1, 2].map((step) => `progress ${round * 10 + step}`));
    expect(seen.map(gist)).toEqual(["primer", "progress 1", ...steps, "answer 1: x done"]);
    expect((await at(b, client).get(idOf(seen.at(-1)))).status).toBe(204);
    expect((await at(b, client).get("nope.1")).status).toBe(400);
  });

  test("is let go of by one and gone on with on the other (SEP-1699)", async () => {
    await two();
    const client = await openSession(a.url);
    void a.script("x").tell("detach");
    const events = await new Events(await client.call(1, "works", { name: "x" })).rest();
    expect(events.map(({ retry }) => retry)).toEqual([undefined, "7"]);
    const back = new Events(await at(b, client).get(idOf(events[0])));
    await a.script("x").tell(1);
    expect(gist(await back.message())).toBe("progress 1");
    await a.script("x").tell("detach");
    const last = (await back.rest()).at(-1);
    expect(last?.retry).toBe("7");
    await a.script("x").tell("end");
    const rest = await new Events(await at(b, client).get(idOf(events[0]))).rest();
    expect(rest.map(gist)).toEqual(["progress 1", "answer 1: x done"]);
  });

  test("hears what is told unasked on one stream only, wherever it opens it", async () => {
    await two();
    const client = await openSession(a.url);
    const first = new Events(await client.get());
    await first.next();
    const second = new Events(await at(b, client).get());
    await second.next();
    expect(await first.rest()).toEqual([]);
    a.server.prompt("new", {}, () => "");
    expect(gist(await second.message())).toBe("notifications/prompts/list_changed");
  });

  test("finds what an instance that has stopped had kept, then is told so of what was not answered", async () => {
    await two();
    const client = await openSession(a.url);
    const works = a.script("x");
    void works.tell(1);
    const events = new Events(await client.call(7, "works", { name: "x" }));
    const primer = (await events.next()) as SseEvent;
    expect(gist(await events.message())).toBe("progress 1");
    await a.close();
    const rest = await new Events(await at(b, client).get(idOf(primer))).rest();
    expect(gist(rest[0] as SseEvent)).toBe("progress 1");
    const error = JSON.parse(rest[1]?.data ?? "") as Json;
    expect(error).toMatchObject({
      id: 7,
      error: { code: -32603, message: expect.stringContaining("is gone") },
    });
    expect(rest.length).toBe(2);
  });

  test("goes on hearing what is told unasked when the instance that told it has stopped", async () => {
    await two();
    const client = await openSession(a.url);
    const primer = await new Events(await client.get()).next();
    await a.close();
    const back = new Events(await at(b, client).get(idOf(primer)));
    expect((await back.next())?.data).toBe("");
    b.server.prompt("new", {}, () => "");
    expect(gist(await back.message())).toBe("notifications/prompts/list_changed");
  });

  test("costs no command to tell of changes when nobody listens elsewhere", async () => {
    await two();
    const client = await openSession(a.url);
    const told = new Events(await client.get());
    await told.next();
    const published = async () => {
      const stats = (await redis.commandAll("INFO", "commandstats")).join("\n");
      return [...stats.matchAll(/cmdstat_publish:calls=(\d+)/g)].reduce(
        (sum, [, calls]) => sum + Number(calls),
        0,
      );
    };
    const before = await published();
    for (let count = 0; count < 10; count++) {
      a.server.prompt(`new ${count}`, {}, () => "");
      await told.message();
    }
    expect(await published()).toBe(before);
    // From when somebody listens there, it does.
    const elsewhere = new Events(await (await openSession(b.url)).get());
    await elsewhere.next();
    a.server.removePrompt("new 0");
    await elsewhere.message();
    expect(await published()).toBeGreaterThan(before + 1);
  });
}
