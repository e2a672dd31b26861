/** Instances at the same moment: what one does to a session while another does something else to it. */

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import {
  Events,
  gist,
  HEADERS,
  openSession,
  type SessionClient,
  until,
} from "../../server/test/streamable.ts";
import { type Json, MODERN_META, type SseEvent } from "../../server/test/wire.ts";
import { at, closeAll, type Instance, startInstance } from "./instances.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

const CHANGED = "notifications/tools/list_changed";

needs("redis-server")("on several instances at once", () => {
  let redis: RedisServer;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterEach(closeAll);
  afterAll(() => redis.stop());

  async function three(): Promise<[Instance, Instance, Instance]> {
    const shared = { url: redis.url, prefix: `${crypto.randomUUID()}:` };
    return [await startInstance(shared), await startInstance(shared), await startInstance(shared)];
  }

  function change(client: SessionClient, method: string, params: Json): Promise<Response> {
    return client.post({ jsonrpc: "2.0", id: crypto.randomUUID(), method, params });
  }

  test("a stream is opened: one stays, and is told once", async () => {
    const [a, b, c] = await three();
    for (let round = 0; round < 10; round++) {
      const client = await openSession(c.url);
      const told: string[] = [];
      let over = 0;
      const read = async (response: Response) => {
        for (const event of await new Events(response).rest()) told.push(gist(event));
        over++;
      };
      const opened = await Promise.all([at(a, client).get(), at(b, client).get()]);
      const reading = opened.map(read);
      await until(() => over === 1);
      c.server.tool(`tool ${round}`, {}, () => "");
      const watch = new Events(await (await openSession(c.url)).get());
      await watch.next();
      await at(c, client).delete();
      await Promise.all(reading);
      expect(told.filter((one) => one === CHANGED)).toEqual([CHANGED]);
    }
  });

  test("a session is changed: each instance has it as it is in the end", async () => {
    const [a, b, c] = await three();
    const client = await openSession(a.url);
    const events = new Events(await at(c, client).get());
    await events.next();
    for (let round = 0; round < 10; round++) {
      const uri = `test://${round}`;
      await Promise.all(
        [a, b, a, b].map((instance, index) =>
          index < 3
            ? change(at(instance, client), "resources/subscribe", { uri: `${uri}/${index}` })
            : change(at(instance, client), "logging/setLevel", {
                level: round % 2 === 0 ? "error" : "debug",
              }),
        ),
      );
      // Asked for by none since, the instance that tells knows of all of them.
      for (const index of [0, 1, 2]) a.server.resourceUpdated(`${uri}/${index}`);
      const heard = [];
      for (let count = 0; count < 3; count++) heard.push((await events.message()).params.uri as string);
      expect(heard.sort()).toEqual([0, 1, 2].map((index) => `${uri}/${index}`));
    }
  });

  test("a session is deleted while it is used: it is over, and nothing of it is left", async () => {
    const [a, b, c] = await three();
    for (let round = 0; round < 10; round++) {
      const client = await openSession(a.url);
      const answers = await Promise.all([
        at(b, client).get(),
        change(at(b, client), "resources/subscribe", { uri: "test://watched" }),
        at(c, client).delete(),
        at(a, client).call(1, "later", { text: "hi" }),
        at(a, client).get(),
      ]);
      for (const { status } of answers) expect([200, 204, 404]).toContain(status);
      await Promise.all(answers.map((answer) => answer.text()));
      expect((await at(b, client).get()).status).toBe(404);
      expect(await redis.command("KEYS", `*${client.id}*`)).toEqual([]);
    }
    await until(() => [a, b, c].every(({ mounted }) => mounted.endpoint.live === 0));
  });

  test("a question is answered: one is taken, the other refused", async () => {
    const [a, b, c] = await three();
    const client = await openSession(a.url);
    void a.script("x").tell("ask");
    const events = new Events(await client.call(1, "works", { name: "x" }));
    const { id } = await events.message();
    const answer = { jsonrpc: "2.0", id, result: { action: "accept", content: { yes: true } } };
    const answers = await Promise.all([at(b, client).post(answer), at(c, client).post(answer)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 400]);
    void a.script("x").tell("end");
    expect((await events.rest()).map(gist)).toEqual(["progress 1000", "answer 1: x done"]);
  });

  test("a session is deleted elsewhere while a question waits: the call ends", async () => {
    const [a, b] = await three();
    const client = await openSession(a.url);
    void a.script("x").tell("ask");
    const events = new Events(await client.call(1, "works", { name: "x" }));
    await events.message();
    await at(b, client).delete();
    await a.script("x").cancelled;
    await events.rest();
    await until(() => a.mounted.endpoint.live === 0);
  });

  test("subscriptions/listen hears of lists and resources from all of them", async () => {
    const instances = await three();
    const listen = async ({ url }: Instance, notifications: Json): Promise<Events> => {
      const params = { notifications, _meta: MODERN_META };
      const response = await fetch(url, {
        method: "POST",
        headers: {
          ...HEADERS,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "subscriptions/listen",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: "s", method: "subscriptions/listen", params }),
      });
      const events = new Events(response);
      expect((await events.message()).method).toBe("notifications/subscriptions/acknowledged");
      return events;
    };
    const all = await Promise.all(
      instances.map((instance) =>
        listen(instance, { toolsListChanged: true, resourceSubscriptions: ["test://watched"] }),
      ),
    );
    const deaf = await listen(instances[0], { promptsListChanged: true });
    for (const [index, { server }] of instances.entries()) {
      server.tool(`of ${index}`, {}, () => "");
      server.resourceUpdated("test://other");
      server.resourceUpdated("test://watched");
      for (const events of all) {
        const told = [await events.message(), await events.message()];
        expect(told.map(({ method }) => method)).toEqual([CHANGED, "notifications/resources/updated"]);
        for (const { params } of told)
          expect(params._meta["io.modelcontextprotocol/subscriptionId"]).toBe("s");
        expect(told[1]?.params.uri).toBe("test://watched");
      }
    }
    instances[1].server.prompt("p", {}, () => "");
    expect(gist(await deaf.message())).toBe("notifications/prompts/list_changed");
  });

  test("one drains: its listener goes on elsewhere, though a call keeps it", async () => {
    const [a, b] = await three();
    const client = await openSession(a.url);
    const listener = new Events(await client.get());
    const primer = (await listener.next()) as SseEvent;
    void a.script("x").tell(1);
    const call = new Events(await client.call(1, "works", { name: "x" }));
    await call.message();
    a.mounted.endpoint.end();
    expect(await listener.rest()).toEqual([]);
    const back = new Events(await at(b, client).get(primer.id));
    expect((await back.next())?.data).toBe("");
    b.server.tool("new", {}, () => "");
    expect(gist(await back.message())).toBe(CHANGED);
    void a.script("x").tell("end");
    expect((await call.rest()).map(gist)).toEqual(["answer 1: x done"]);
  });
});
