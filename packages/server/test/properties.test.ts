/** What has to hold whatever comes in, in whatever order: one answer at most, nothing left behind, the next is served. */

import { type Channel, channelPair, eraOf, REVISIONS, type Revision } from "@patchbay/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { McpServer } from "../src/index.ts";
import { createSealer } from "../src/sealing.ts";
import { serveChannel } from "../src/transports/channel.ts";
import {
  type Answered,
  baseMessages,
  type Malformed,
  malformed,
  requestsIn,
  TELLS_TOO_MUCH,
} from "./malformed.ts";
import { HEADERS, type Mounted, mount, openSession, until } from "./streamable.ts";
import { INITIALIZE, type Json, MODERN_META } from "./wire.ts";

const seed = 20260728;
const rpc = (id: unknown, method: string, params: Json = {}) => ({ jsonrpc: "2.0", id, method, params });

/** A server whose tool `works` is done when the test says so, whether or not its caller still wants it. */
function worker() {
  const running = new Map<number, () => void>();
  const server = new McpServer({ name: "worker", version: "1" }, { onError: () => {} }).tool(
    "works",
    { input: z.object({ id: z.number() }) },
    async ({ id }, ctx) => {
      await new Promise<void>((resolve) => running.set(id, resolve));
      running.delete(id);
      ctx.progress(2);
      return `${id} done`;
    },
  );
  return { server, running };
}

/** What happens to a handful of requests, in any order, even what makes no sense. */
type Event = { what: "start" | "cancel" | "finish" | "turn"; id: number };
const events = (ids: number, maxLength: number): fc.Arbitrary<Event[]> =>
  fc.array(
    fc.record({
      what: fc.constantFrom("start", "cancel", "finish", "turn"),
      id: fc.integer({ min: 1, max: ids }),
    }),
    { minLength: 3, maxLength },
  );
const turn = () => new Promise(setImmediate);

describe(`cancellations and results in any order (seed ${seed})`, () => {
  test.each(REVISIONS)("over a channel, %s", async (revision) => {
    const modern = eraOf(revision) === "modern";
    const call = (id: number) =>
      rpc(id, "tools/call", {
        name: "works",
        arguments: { id },
        _meta: { progressToken: id, ...(modern && MODERN_META) },
      });

    await fc.assert(
      fc.asyncProperty(events(4, 24), async (events) => {
        const { server, running } = worker();
        const [client, end] = channelPair();
        const log: { what: "request" | "cancel" | "answer" | "progress"; id: unknown }[] = [];
        const serving = serveChannel(server, watched(end, log));
        client.listen(
          () => {},
          () => {},
        );
        if (!modern)
          client.send(
            JSON.stringify(rpc("init", "initialize", { ...INITIALIZE, protocolVersion: revision })),
          );
        const started = new Set<number>();
        for (const { what, id } of events) {
          if (what === "turn") await turn();
          else if (what === "finish") running.get(id)?.();
          else if (what === "cancel") {
            const cancelled = {
              jsonrpc: "2.0",
              method: "notifications/cancelled",
              params: { requestId: id },
            };
            client.send(JSON.stringify(cancelled));
          } else if (!started.has(id)) {
            started.add(id);
            client.send(JSON.stringify(call(id)));
          }
        }
        await turn();
        for (const finish of running.values()) finish();
        await serving.finish();

        for (const id of started) {
          const own = log.filter((entry) => entry.id === id).map(({ what }) => what);
          const since = own.slice(own.indexOf("request"));
          const cancelledAt = since.indexOf("cancel");
          const answeredAt = since.indexOf("answer");
          expect(since.filter((what) => what === "answer")).toHaveLength(
            cancelledAt === -1 || (answeredAt !== -1 && answeredAt < cancelledAt) ? 1 : 0,
          );
          // After an answer or a cancellation nothing more is said of it.
          const over = since.findIndex((what) => what === "answer" || what === "cancel");
          expect(since.slice(over + 1)).not.toContain("progress");
        }
        client.send(
          JSON.stringify(
            rpc("next", modern ? "server/discover" : "ping", modern ? { _meta: MODERN_META } : {}),
          ),
        );
        await turn();
        expect(log.filter(({ what, id }) => what === "answer" && id === "next")).toHaveLength(1);
        await client.close();
      }),
      { seed, numRuns: 40 },
    );
  });

  /** The end of a channel, with what goes in and out of it told in its order. */
  function watched(
    end: Channel,
    log: { what: "request" | "cancel" | "answer" | "progress"; id: unknown }[],
  ): Channel {
    return {
      send(text) {
        const message = JSON.parse(text) as Json;
        if (message.method === undefined) log.push({ what: "answer", id: message.id });
        else log.push({ what: "progress", id: message.params.progressToken });
        end.send(text);
      },
      listen(onMessage, onClose) {
        end.listen((text) => {
          const message = JSON.parse(text) as Json;
          if (message.id !== undefined) log.push({ what: "request", id: message.id });
          else log.push({ what: "cancel", id: message.params.requestId });
          onMessage(text);
        }, onClose);
      },
      close: () => end.close(),
    };
  }

  test.each(["2025-11-25", "2025-03-26", "2026-07-28"] as const)("over HTTP, %s", async (revision) => {
    const modern = eraOf(revision) === "modern";
    const { server, running } = worker();
    // Streams that could be resumed would be kept for a while after their end.
    const mounted = await mount(server, { maxEvents: 0 });
    const session = modern ? undefined : await openSession(mounted.url, revision);
    let last = 0;
    const call = (id: number, signal: AbortSignal) =>
      fetch(mounted.url, {
        method: "POST",
        signal,
        headers: {
          ...HEADERS,
          "mcp-protocol-version": revision,
          ...(session && { "mcp-session-id": session.id }),
          ...(modern && { "mcp-method": "tools/call", "mcp-name": "works" }),
        },
        body: JSON.stringify(
          rpc(id, "tools/call", { name: "works", arguments: { id }, ...(modern && { _meta: MODERN_META }) }),
        ),
      }).then(async (response) => answersIn(await response.text()));

    await fc.assert(
      fc.asyncProperty(events(3, 12), async (events) => {
        const calls = new Map<
          number,
          { id: number; abort: AbortController; done: Promise<Json[] | undefined>; cancelled: boolean }
        >();
        for (const { what, id: slot } of events) {
          const known = calls.get(slot);
          if (what === "turn") await turn();
          else if (what === "start" && known === undefined) {
            const id = ++last;
            const abort = new AbortController();
            const done = call(id, abort.signal).catch(() => undefined);
            calls.set(slot, { id, abort, done, cancelled: false });
          } else if (what === "finish" && known !== undefined) running.get(known.id)?.();
          else if (what === "cancel" && known !== undefined) {
            known.cancelled = true;
            if (modern) known.abort.abort();
            else {
              const cancelled = {
                jsonrpc: "2.0",
                method: "notifications/cancelled",
                params: { requestId: known.id },
              };
              expect((await session?.post(cancelled))?.status).toBe(202);
            }
          }
        }
        let open = calls.size;
        for (const { done } of calls.values()) void done.then(() => open--);
        await until(() => {
          for (const finish of [...running.values()]) finish();
          return open === 0;
        });
        for (const { id, done, cancelled } of calls.values()) {
          const answers = await done;
          if (cancelled) expect(answers?.length ?? 0).toBeLessThanOrEqual(1);
          else
            expect(answers?.map((answer) => [answer.id, answer.result.content[0].text])).toEqual([
              [id, `${id} done`],
            ]);
        }
      }),
      { seed, numRuns: 15 },
    );
    // What was given up before it was done runs to its end, and then nothing is left.
    await until(() => {
      for (const finish of [...running.values()]) finish();
      return running.size === 0 && mounted.endpoint.live === 0;
    });
    const next = call(++last, new AbortController().signal);
    await until(() => running.has(last));
    running.get(last)?.();
    expect(await next).toHaveLength(1);
    await mounted.close();
  });
});

/** The responses in a body, be it JSON or a stream. */
function answersIn(body: string): Json[] {
  const texts =
    body.startsWith("event:") || body.startsWith("id:")
      ? body
          .split("\n")
          .filter((line) => line.startsWith("data: {"))
          .map((line) => line.slice(6))
      : body === ""
        ? []
        : [body];
  return texts
    .flatMap((text) => JSON.parse(text) as Json | Json[])
    .filter(({ method }) => method === undefined);
}

describe(`malformed messages (seed ${seed})`, () => {
  const server = new McpServer({ name: "sturdy", version: "1" }, { onError: () => {} })
    .tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text)
    .tool("later", { input: z.object({ text: z.string() }) }, async ({ text }) => {
      await turn();
      return text;
    })
    .tool(
      "asks",
      {},
      async (_args, ctx) => (await ctx.elicit("Sure?", z.object({ sure: z.boolean() }))).action,
    )
    .resource("test://a", { name: "a" }, () => "a")
    .resourceTemplate("test://items/{id}", { name: "item" }, (_uri, { id }) => `${id}`)
    .prompt("greet", { arguments: [{ name: "name", required: true }] }, ({ name }) => `Hello, ${name}`);

  const COUNT = 10_000;
  test.each(REVISIONS.map((revision, index) => ({ revision, index })))(
    `$revision over a channel: ${COUNT / REVISIONS.length} of ${COUNT}`,
    async ({ revision, index }) => {
      const [client, end] = channelPair();
      const serving = serveChannel(server, end);
      const answered: Answered = new Map();
      const texts: string[] = [];
      client.listen(
        (text) => {
          const received = JSON.parse(text) as Json | Json[];
          for (const message of [received].flat()) {
            if (message.method !== undefined) continue;
            const key = JSON.stringify(message.id);
            answered.set(key, (answered.get(key) ?? 0) + 1);
            if (message.error !== undefined) texts.push(text);
          }
        },
        () => {},
      );
      if (revision !== "2026-07-28") {
        client.send(JSON.stringify(rpc("init", "initialize", { ...INITIALIZE, protocolVersion: revision })));
      }
      const asked: Answered = new Map();
      const cancelled = new Set<string>();
      const sent = fc.sample(malformed(baseMessages(revision)), {
        seed: seed + index,
        numRuns: COUNT / REVISIONS.length,
      });
      for (const [at, { text }] of sent.entries()) {
        for (const request of requestsIn(text, revision === "2025-03-26")) {
          if (request.cancels !== undefined) cancelled.add(request.cancels);
          if (request.id !== undefined) asked.set(request.id, (asked.get(request.id) ?? 0) + 1);
        }
        client.send(text);
        if (at % 100 === 0) await turn();
      }
      await turn();
      await serving.finish();
      client.send(JSON.stringify(good(revision, "good")));
      await until(() => answered.has('"good"'));

      for (const [id, times] of asked) {
        if (!cancelled.has(id)) expect([id, answered.get(id)]).toEqual([id, times]);
      }
      const unasked = [...answered.keys()].filter(
        (id) => !asked.has(id) && id !== '"init"' && id !== '"good"' && id !== undefined,
      );
      expect(unasked).toEqual([]);
      expect(texts.length).toBeGreaterThan(500);
      expect(texts.filter((text) => TELLS_TOO_MUCH.test(text))).toEqual([]);
      await client.close();
    },
  );

  describe("over HTTP", () => {
    let mounted: Mounted;
    beforeAll(async () => {
      mounted = await mount(server, { maxEvents: 0 });
    });
    afterAll(() => mounted.close());

    test.each(["2026-07-28", "2025-11-25", "2025-03-26"] as const)("%s: 340 of 1,020", async (revision) => {
      const session = eraOf(revision) === "legacy" ? await openSession(mounted.url, revision) : undefined;
      const bases = baseMessages(revision).filter(({ method }) => method !== "subscriptions/listen");
      const version = fc.oneof(
        { weight: 8, arbitrary: fc.constant(revision as string) },
        fc.constantFrom("", "1999-01-01", "x", ...REVISIONS),
      );
      const posts = fc.sample(fc.tuple(malformed(bases), version, fc.boolean()), { seed, numRuns: 340 });
      const waiting = [...posts];
      const one = async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await post(...next);
      };
      await Promise.all([one(), one(), one(), one()]);
      await until(() => mounted.endpoint.live === 0);
      const response = await send(JSON.stringify(good(revision, "good")), revision, good(revision, "good"));
      expect(response.status).toBe(200);
      expect(answersIn(await response.text()).map(({ id, result }) => [id, result.content[0].text])).toEqual([
        ["good", "hi"],
      ]);

      function send(body: string | Uint8Array<ArrayBuffer>, version: string, named: Json | undefined) {
        return fetch(mounted.url, {
          method: "POST",
          headers: {
            ...HEADERS,
            "mcp-protocol-version": version,
            ...(session && { "mcp-session-id": session.id }),
            ...(named && {
              "mcp-method": String(named.method),
              "mcp-name": String(named.params?.name ?? named.params?.uri ?? ""),
            }),
          },
          body,
        });
      }

      async function post({ text, bytes, base }: Malformed, version: string, headed: boolean) {
        const response = await send(bytes ?? text, version, headed ? base : undefined);
        const body = await response.text();
        const context = JSON.stringify([text, response.status, body]);
        expect(response.status, context).toBeLessThan(500);
        expect(body, context).not.toMatch(TELLS_TOO_MUCH);
        const requests = requestsIn(text, revision === "2025-03-26").filter(({ id }) => id !== undefined);
        const answers = answersIn(body);
        if (answers.length !== 1 || answers[0]?.id !== undefined) {
          const ids = answers
            .map(({ id }) => JSON.stringify(id))
            .filter((id) => id !== undefined)
            .sort();
          expect(ids, context).toEqual(requests.map(({ id }) => id).sort());
        } else if (requests.length > 0) {
          // A refusal of the whole, before any of its ids was looked at.
          expect(response.status, context).toBe(400);
        }
      }
    });
  });

  function good(revision: Revision, id: string): Json {
    const meta = eraOf(revision) === "modern" ? { _meta: MODERN_META } : {};
    return rpc(id, "tools/call", { name: "echo", arguments: { text: "hi" }, ...meta });
  }
});

describe(`a requestState that was changed (seed ${seed})`, () => {
  const secret = "a secret of at least thirty-two characters";
  const sealer = createSealer("state", [secret]);

  test("is never opened, whichever character it is, and however long", async () => {
    for (const length of [0, 1, 2, 3]) {
      const sealed = await sealer.seal({ a: "x".repeat(length) });
      expect(await sealer.open(sealed)).toEqual({ a: "x".repeat(length) });
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \n";
      const changed = new Set<string>();
      for (let at = 0; at < sealed.length; at++) {
        const neighbours = at === sealed.length - 1 ? alphabet : alphabet[(at * 7) % alphabet.length];
        for (const char of neighbours as string)
          changed.add(sealed.slice(0, at) + char + sealed.slice(at + 1));
        changed.add(sealed.slice(0, at));
        changed.add(sealed.slice(0, at) + sealed.slice(at + 1));
      }
      for (const more of ["A", "=", "==", " ", sealed]) changed.add(sealed + more).add(more + sealed);
      changed.delete(sealed);
      const opened = await Promise.all([...changed].map((text) => sealer.open(text)));
      expect([...changed].filter((_, at) => opened[at] !== undefined)).toEqual([]);
    }
  });

  test("is refused by name, and what was sealed elsewhere or for another request is too", async () => {
    const server = new McpServer({ name: "asks", version: "1" }, { stateSecrets: [secret] }).tool(
      "asks",
      { input: z.object({ n: z.number() }) },
      async ({ n }, ctx) => `${n} ${(await ctx.elicit("Sure?", z.object({ sure: z.boolean() }))).action}`,
    );
    const [client, end] = channelPair();
    server.serve(end);
    const pending = new Map<number, (message: Json) => void>();
    client.listen(
      (text) => {
        const message = JSON.parse(text) as Json;
        pending.get(message.id)?.(message);
      },
      () => {},
    );
    let last = 0;
    const call = (n: number, more: Json = {}) =>
      new Promise<Json>((resolve) => {
        pending.set(++last, resolve);
        const params = { name: "asks", arguments: { n }, _meta: MODERN_META, ...more };
        client.send(JSON.stringify(rpc(last, "tools/call", params)));
      });
    const { requestState } = (await call(1)).result;
    const inputResponses = { 1: { action: "decline" } };
    expect((await call(1, { requestState, inputResponses })).result.content[0].text).toBe("1 decline");

    const edit = fc
      .tuple(fc.nat(requestState.length - 1), fc.nat(8), fc.string({ maxLength: 8 }))
      .map(([at, cut, put]) => requestState.slice(0, at) + put + requestState.slice(at + cut));
    const others = fc.oneof(edit, fc.string(), fc.base64String(), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(others, async (state) => {
        if (state === requestState) return;
        const { error } = await call(1, { requestState: state, inputResponses });
        expect([error?.code, error?.data?.reason]).toEqual([
          -32602,
          expect.stringMatching(/^(tampered|unreadable)$/),
        ]);
      }),
      { seed, numRuns: 300 },
    );
    expect((await call(2, { requestState, inputResponses })).error.data.reason).toBe("foreign");
    const foreign = await createSealer("state", ["another secret of more than 32 characters"]).seal({
      q: [],
      s: {},
    });
    expect((await call(1, { requestState: foreign, inputResponses })).error.data.reason).toBe("tampered");
    await client.close();
  });
});
