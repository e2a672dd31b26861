/** Legacy streams: what goes on which, how they are lost and found again, and what ends them. */

import { afterEach, describe, expect, test } from "vitest";
import { EventBudget } from "../src/legacy/event-budget.ts";
import { EventStream } from "../src/legacy/event-stream.ts";
import type { EndpointOptions } from "../src/transports/http/endpoint.ts";
import { Events, gist, type Mounted, mount, openSession, scripted, until } from "./streamable.ts";
import type { Json, SseEvent } from "./wire.ts";

let mounted: Mounted | undefined;
afterEach(() => mounted?.close());

async function start(options: EndpointOptions = {}) {
  const { server, script } = scripted();
  mounted = await mount(server, options);
  return { server, script, url: mounted.url, endpoint: mounted.endpoint };
}

const idOf = (event: SseEvent | undefined) => event?.id as string;

describe("what a session is told unasked", () => {
  test("comes by GET: changed lists, and the resources that it subscribed to", async () => {
    const { server, url } = await start();
    const client = await openSession(url);
    await client.post({
      jsonrpc: "2.0",
      id: 1,
      method: "resources/subscribe",
      params: { uri: "test://watched" },
    });
    const events = new Events(await client.get());
    const primer = await events.next();
    expect(primer).toMatchObject({ data: "", id: expect.stringMatching(/^[\w-]+\.0$/) });
    server.resourceUpdated("test://other");
    server.resourceUpdated("test://watched");
    server.prompt("new", {}, () => "");
    const told = [await events.next(), await events.next()] as SseEvent[];
    expect(told.map(gist)).toEqual(["notifications/resources/updated", "notifications/prompts/list_changed"]);
    expect(new Set([primer, ...told].map(idOf)).size).toBe(3);
  });

  test("that comes while it is away is not lost", async () => {
    const { server, url } = await start();
    const client = await openSession(url);
    const away = new AbortController();
    const events = new Events(await client.get(undefined, away.signal));
    const primer = await events.next();
    away.abort();
    server.prompt("one", {}, () => "");
    await new Promise(setImmediate);
    server.removeTool("echo");
    const back = new Events(await client.get(idOf(primer)));
    expect([gist((await back.next()) as SseEvent), gist((await back.next()) as SseEvent)]).toEqual([
      "notifications/prompts/list_changed",
      "notifications/tools/list_changed",
    ]);
  });

  test("goes to one stream only: a second GET takes over from the first, which ends", async () => {
    const { server, url } = await start();
    const client = await openSession(url);
    const first = new Events(await client.get());
    await first.next();
    const second = new Events(await client.get());
    await second.next();
    server.prompt("new", {}, () => "");
    expect(gist((await second.next()) as SseEvent)).toBe("notifications/prompts/list_changed");
    expect(await first.rest()).toEqual([]);
  });

  test("belongs to its session: another hears of its own subscriptions alone", async () => {
    const { server, url } = await start();
    const [one, other] = [await openSession(url), await openSession(url)];
    await one.post({
      jsonrpc: "2.0",
      id: 1,
      method: "resources/subscribe",
      params: { uri: "test://watched" },
    });
    const [ones, others] = [new Events(await one.get()), new Events(await other.get())];
    server.resourceUpdated("test://watched");
    await ones.message();
    server.prompt("new", {}, () => "");
    expect((await others.message()).method).toBe("notifications/prompts/list_changed");
  });

  test("follows what the session subscribed to while a call of before goes on", async () => {
    const { server, url, script } = await start();
    const client = await openSession(url);
    const unasked = new Events(await client.get());
    await unasked.next();
    // A call that began before the subscription, and speaks after it.
    const call = client.call(1, "works", { name: "a" });
    await script("a").tell("ready");
    await client.post({
      jsonrpc: "2.0",
      id: 2,
      method: "resources/subscribe",
      params: { uri: "test://watched" },
    });
    await script("a").tell(1);
    server.resourceUpdated("test://watched");
    expect((await unasked.message()).method).toBe("notifications/resources/updated");
    await script("a").tell("end");
    await new Events(await call).rest();
  });

  test("is nothing without sessions: 405", async () => {
    const { url } = await start({ sessions: "stateless" });
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(url, { method, headers: { accept: "text/event-stream" } });
      expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
    }
  });

  test("needs Accept: 406", async () => {
    const { url } = await start();
    const client = await openSession(url);
    const headers = { accept: "application/json", "mcp-session-id": client.id };
    expect((await fetch(url, { headers })).status).toBe(406);
  });
});

describe("the stream of a call", () => {
  test.each(["2025-11-25", "2025-06-18", "2025-03-26"])(
    "has ids, and ends with the answer (%s)",
    async (revision) => {
      const { url, script } = await start();
      const client = await openSession(url, revision);
      const works = script("a");
      void works.tell(1);
      void works.tell(2);
      void works.tell("end");
      const events = await new Events(await client.call(5, "works", { name: "a" })).rest();
      const primed = revision === "2025-11-25" ? ["primer"] : [];
      expect(events.map(gist)).toEqual([...primed, "progress 1", "progress 2", "answer 5: a done"]);
      expect(new Set(events.map(idOf)).size).toBe(events.length);
    },
  );

  test("is none when nothing comes before the answer", async () => {
    const { url } = await start();
    const client = await openSession(url);
    for (const name of ["echo", "later"]) {
      const response = await client.call(1, name, { text: "hi" });
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(gist((await response.json()) as Json)).toBe("answer 1: hi");
    }
  });

  test("never mixes with another, nor with what is told unasked", async () => {
    const { server, url, script } = await start();
    const client = await openSession(url);
    const unasked = new Events(await client.get());
    await unasked.next();
    const names = ["a", "b", "c"];
    for (const name of names) void script(name).tell(0);
    const streams = await Promise.all(names.map((name) => client.call(name, "works", { name })));
    for (let step = 1; step <= 5; step++) for (const name of names) await script(name).tell(step);
    server.prompt("new", {}, () => "");
    for (const name of names) await script(name).tell("end");
    const all = await Promise.all(streams.map((stream) => new Events(stream).rest()));
    all.forEach((events, index) => {
      const name = names[index] as string;
      const messages = events.filter(({ data }) => data !== "").map(({ data }) => JSON.parse(data) as Json);
      expect(messages.map(gist)).toEqual([
        ...[0, 1, 2, 3, 4, 5].map((step) => `progress ${step}`),
        `answer ${name}: ${name} done`,
      ]);
      expect(messages.slice(0, -1).map(({ params }) => params.progressToken)).toEqual(Array(6).fill(name));
    });
    expect(new Set(all.flat().map(idOf)).size).toBe(all.flat().length);
    expect((await unasked.message()).method).toBe("notifications/prompts/list_changed");
  });

  test("is gone on with after each loss: each event once, in order, then the answer", async () => {
    const { url, script } = await start();
    const client = await openSession(url);
    const works = script("a");
    void works.tell(1);
    let away = new AbortController();
    let events = new Events(await client.call(1, "works", { name: "a" }, away.signal));
    const seen: SseEvent[] = [(await events.next()) as SseEvent];
    for (let round = 1; round <= 4; round++) {
      away.abort();
      // Told while nobody is there.
      await works.tell(round * 10);
      await works.tell(round * 10 + 1);
      away = new AbortController();
      events = new Events(await client.get(idOf(seen.at(-1)), away.signal));
      const missed = round === 1 ? 3 : 2;
      for (let count = 0; count < missed; count++) seen.push((await events.next()) as SseEvent);
      // Told while it listens.
      await works.tell(round * 10 + 2);
      seen.push((await events.next()) as SseEvent);
    }
    away.abort();
    await works.tell("end");
    const back = await client.get(idOf(seen.at(-1)));
    seen.push(...(await new Events(back).rest()));
    const steps = [1, 2, 3, 4].flatMap((round) => [0, 1, 2].map((step) => `progress ${round * 10 + step}`));
    expect(seen.map(gist)).toEqual(["primer", "progress 1", ...steps, "answer 1: a done"]);
    // Who has seen all is told not to come back.
    expect((await client.get(idOf(seen.at(-1)))).status).toBe(204);
    // Who has lost the end may ask for it again.
    const again = await new Events(await client.get(idOf(seen.at(-2)))).rest();
    expect(again.map(gist)).toEqual(["answer 1: a done"]);
  });

  test("takes a new connection before it knows that the old one is lost", async () => {
    const { url, script } = await start();
    const client = await openSession(url);
    const works = script("a");
    void works.tell(1);
    const old = new Events(await client.call(1, "works", { name: "a" }));
    const primer = await old.next();
    const fresh = new Events(await client.get(idOf(primer)));
    await works.tell(2);
    await works.tell("end");
    expect((await fresh.rest()).map(gist)).toEqual(["progress 1", "progress 2", "answer 1: a done"]);
    expect((await old.rest()).map(gist)).toEqual(["progress 1"]);
  });

  test("keeps a question for a client that is away", async () => {
    const { url, script } = await start();
    const client = await openSession(url);
    const works = script("a");
    void works.tell(1);
    const away = new AbortController();
    const events = new Events(await client.call(1, "works", { name: "a" }, away.signal));
    const primer = await events.next();
    away.abort();
    await works.tell("ask");
    const back = new Events(await client.get(idOf(primer)));
    expect(gist(await back.message())).toBe("progress 1");
    const question = await back.message();
    expect(question.method).toBe("elicitation/create");
    const result = { action: "accept", content: { yes: true } };
    const answered = await client.post({ jsonrpc: "2.0", id: question.id, result });
    expect([answered.status, await answered.text()]).toEqual([202, ""]);
    expect((await back.message()).params.message).toBe("accept");
    await works.tell("end");
    expect(gist(await back.message())).toBe("answer 1: a done");
    // Answered once is answered.
    expect((await client.post({ jsonrpc: "2.0", id: question.id, result })).status).toBe(400);
  });

  test("asks by ids that never come again in the session, and no other session can answer", async () => {
    const { url, script, endpoint } = await start({ maxEvents: 0 });
    const [client, other] = [await openSession(url), await openSession(url)];
    const ids = new Set<string>();
    for (const name of ["a", "b"]) {
      void script(name).tell("ask");
      const events = new Events(await client.call(name, "works", { name }));
      const question = await events.message();
      ids.add(question.id);
      const answer = { jsonrpc: "2.0", id: question.id, result: { action: "decline" } };
      expect((await other.post(answer)).status).toBe(400);
      expect((await client.post(answer)).status).toBe(202);
      void script(name).tell("end");
      await events.rest();
      // In between nothing goes on in the session.
      await until(() => endpoint.live === 0);
    }
    expect(ids.size).toBe(2);
  });

  test("is cut by the server when told so, and gone on with (SEP-1699)", async () => {
    const { url, script } = await start();
    const client = await openSession(url);
    const works = script("a");
    void works.tell("detach");
    const events = await new Events(await client.call(1, "works", { name: "a" })).rest();
    expect(events.map(({ id, retry, data }) => [id !== undefined, retry, data])).toEqual([
      [true, undefined, ""],
      [false, "7", ""],
    ]);
    await works.tell(1);
    await works.tell("end");
    const rest = await new Events(await client.get(idOf(events[0]))).rest();
    expect(rest.map(gist)).toEqual(["progress 1", "answer 1: a done"]);
  });

  test.each([
    ["a client without an id could not come back", {}, "2025-06-18"],
    ["nothing is kept", { maxEvents: 0 }, "2025-11-25"],
    ["there is no session", { sessions: "stateless" as const }, "2025-11-25"],
  ])("is not cut where %s", async (_why, options, revision) => {
    const { url, script } = await start(options);
    const client = await openSession(url, revision);
    void script("a").tell("detach");
    void script("a").tell("end");
    const response = await client.call(1, "works", { name: "a" });
    const text = await response.text();
    expect(text).toContain("a done");
    expect(text).not.toContain("retry:");
  });
});

describe("Last-Event-ID", () => {
  test("of no stream, of another session, or of what is yet to come: 400", async () => {
    const { url } = await start();
    const [client, other] = [await openSession(url), await openSession(url)];
    const primer = idOf(await new Events(await client.get()).next());
    const stream = primer.split(".")[0];
    for (const id of ["nope", "nope.1", `${stream}.1`, `${stream}.x`, `${stream}.-1`, `${stream}.`, ".0"]) {
      const response = await client.get(id);
      expect([id, response.status]).toEqual([id, 400]);
      expect(((await response.json()) as Json).error.message).toContain("Last-Event-ID");
    }
    expect((await other.get(primer)).status).toBe(400);
    expect((await client.get("")).status).toBe(200);
  });

  test("too long ago: the request is lost, and what is kept is gone on with", async () => {
    const { url, script } = await start({ maxEvents: 2 });
    const client = await openSession(url);
    const works = script("a");
    for (const step of [1, 2, 3, 4]) void works.tell(step);
    const events = new Events(await client.call(1, "works", { name: "a" }));
    const seen = [];
    for (let count = 0; count < 5; count++) seen.push(await events.next());
    for (const early of seen.slice(0, 2)) {
      const [lost, ...more] = await new Events(await client.get(idOf(early))).rest();
      expect(JSON.parse(lost?.data ?? "")).toMatchObject({
        id: 1,
        error: { code: -32603, message: expect.stringContaining("not kept what it sent") },
      });
      expect(more).toEqual([]);
    }
    const back = new Events(await client.get(idOf(seen[2])));
    expect([gist(await back.message()), gist(await back.message())]).toEqual(["progress 3", "progress 4"]);
  });

  test("is not kept beyond what maxKeptBytes allows all streams together", async () => {
    const { url, script, endpoint } = await start({ maxKeptBytes: 200 });
    const client = await openSession(url);
    const works = script("a");
    for (const step of [1, 2, 3, 4]) void works.tell(step);
    const events = new Events(await client.call(1, "works", { name: "a" }));
    const first = await events.next();
    for (let count = 0; count < 3; count++) await events.next();
    const [lost] = await new Events(await client.get(idOf(first))).rest();
    expect(JSON.parse(lost?.data ?? "").error.message).toContain("not kept what it sent");
    expect(endpoint.kept).toBeLessThanOrEqual(200);
  });

  test("is kept within maxBufferedBytes, the last event in any case", () => {
    const options = {
      resumable: true,
      primes: true,
      maxEvents: 100,
      requests: [],
      maxBufferedBytes: 100,
      keepAlive: 1000,
      budget: new EventBudget(1_000_000),
    };
    const stream = new EventStream("s", options, () => {});
    for (const length of [40, 40, 40]) stream.send("x".repeat(length));
    expect([0, 1, 2, 3, 4].map((seq) => stream.hasAfter(seq))).toEqual([false, true, true, true, false]);
    stream.send("x".repeat(1000));
    expect([2, 3, 4].map((seq) => stream.hasAfter(seq))).toEqual([false, true, true]);
  });
});
