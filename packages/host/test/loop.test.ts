/** What a turn stands: servers that die, hang, change, say too much; models that never end; and a program that is killed. */

import { pathToFileURL } from "node:url";
import { chooseModel, type HostEvent } from "@patchbay/host";
import { describe, expect, it, vi } from "vitest";
import { didIn, memoryStore, newFolder, openOffice, toldIn } from "./office.ts";
import { serveProvider } from "./provider-wire.ts";

// Each test starts processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const call = (name: string, args: object = {}, id = name) => ({ calls: [{ id, name, args }] });
const ALLOW = { rules: { allow: ["office/*"] } };
const typesOf = (events: HostEvent[]) => events.map(({ type }) => type);

/** Something that a test can wait for. */
function signalled<T>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe("servers", () => {
  it("one that dies comes back, and the model is told what is not known", async () => {
    const folder = newFolder();
    const script = [call("die"), call("count", { of: "abc" }), { text: "Done." }];
    const { host, wire, events, onEvent } = await openOffice(folder, script, ALLOW);
    await host.ask("Go", { onEvent });
    expect(toldIn(wire, 1).die).toMatch(/^Error: .*may have run, and was not sent again/);
    expect(toldIn(wire, 2).count).toBe("3");
    expect(events).toContainEqual(expect.objectContaining({ type: "server_restarted", server: "office" }));
    expect(didIn(folder)).toEqual(["die", "count abc"]);
  });

  it("one that hangs is given up after toolTimeout, hears of it, and the turn goes on", async () => {
    const folder = newFolder();
    const options = { ...ALLOW, toolTimeout: 500 };
    const { host, wire } = await openOffice(folder, [call("hang"), { text: "It hangs." }], options);
    expect(await host.ask("Go")).toMatchObject({ text: "It hangs.", ok: true });
    expect(toldIn(wire, 1).hang).toMatch(/timeout \(500 ms\)/);
    await vi.waitFor(() => expect(didIn(folder)).toEqual(["hang", "hang stopped"]), { timeout: 30_000 });
  });

  it("5 MB of a result are cut for the model, and are no part of what is kept", async () => {
    const store = memoryStore();
    const options = { ...ALLOW, checkpoints: store };
    const { host, wire } = await openOffice(newFolder(), [call("big"), { text: "Long." }], options);
    await host.conversation({ id: "big" }).ask("Go");
    expect(toldIn(wire, 1).big?.length).toBeLessThan(51_000);
    expect(toldIn(wire, 1).big).toContain("of 5000000 characters");
    expect(store.left().get("big")?.length).toBeLessThan(300_000);
  });

  it("tools that come in the midst of a turn can be called in it, once they are approved", async () => {
    const script = [call("unlock"), call("vault"), { text: "Gold." }];
    const { host, wire, asked, events, onEvent } = await openOffice(newFolder(), script, {
      answers: ["session"],
    });
    await host.ask("Go", { onEvent });
    expect(asked).toMatchObject([{ kind: "tools", changes: [{ tool: "vault", change: "new" }] }]);
    expect(events).toContainEqual({
      type: "tools_changed",
      added: [{ server: "office", tool: "vault" }],
      removed: [],
    });
    expect(toldIn(wire, 2).vault).toBe("gold");
  });
});

describe("questions of servers", () => {
  it("several at once are asked one at a time, and each gets its own answer", async () => {
    let open = 0;
    const { host, wire } = await openOffice(
      newFolder(),
      [
        {
          calls: [
            { id: "a", name: "book", args: { seats: 1 } },
            { id: "b", name: "book", args: { seats: 2 } },
            { id: "c", name: "book", args: { seats: 3 } },
          ],
        },
        { text: "Booked." },
      ],
      {
        ...ALLOW,
        async onElicit({ message }, { server }) {
          expect([server, ++open]).toEqual(["office", 1]);
          await new Promise(setImmediate);
          open--;
          const seats = /\d/.exec(message)?.[0];
          return seats === "2" ? { action: "decline" } : { action: "accept", content: { name: `N${seats}` } };
        },
      },
    );
    await host.ask("Go");
    expect(toldIn(wire, 1)).toEqual({ a: "1 for N1", b: "not booked: decline", c: "3 for N3" });
  });

  it("the host's model writes for a server, once that is approved, and no more than its limit", async () => {
    const script = [call("poem", { about: "rain" }), { text: "Drip." }, { text: "A poem." }];
    const { host, wire, asked, events, onEvent } = await openOffice(newFolder(), script, {
      answers: ["once"],
      sampling: { maxTokens: 77 },
    });
    expect(await host.ask("Go", { onEvent })).toMatchObject({ text: "A poem." });
    expect(asked).toMatchObject([{ kind: "sampling", server: "office", params: { maxTokens: 9_999 } }]);
    const { body } = wire.requests[1] ?? {};
    expect(body.messages).toMatchObject([{ role: "user" }]);
    expect(body.max_tokens ?? body.max_completion_tokens).toBe(77);
    expect(toldIn(wire, 2).poem).toBe("gpt-4.1-mini: Drip.");
    expect(events).toContainEqual(expect.objectContaining({ type: "sampling", server: "office" }));
  });

  it("no model writes for a server where that is not approved; the model is told why", async () => {
    const script = [call("poem", { about: "rain" }), { text: "No poem." }];
    const { host, wire } = await openOffice(newFolder(), script, { answers: ["deny"] });
    await host.ask("Go");
    expect(wire.requests).toHaveLength(2);
    expect(toldIn(wire, 1).poem).toMatch(/rejected/);
  });

  it("only models of the list write for a server: the one that it would like, else the first", async () => {
    const listed = await serveProvider("openai", [{ text: "Drip." }]);
    const env = { MODEL_PROVIDER: "openai", OPENAI_API_KEY: "sk-1", BASE_URL: listed.baseUrl };
    const models = [
      await chooseModel({ ...env, MODEL: "gpt-large" }),
      await chooseModel({ ...env, MODEL: "gpt-tiny" }),
    ];
    const script = [call("poem", { about: "rain" }), { text: "A poem." }];
    const { host, wire } = await openOffice(newFolder(), script, { answers: ["once"], sampling: { models } });
    await host.ask("Go");
    expect(toldIn(wire, 1).poem).toBe("gpt-tiny: Drip.");
    expect(listed.requests.map(({ body }) => body.model)).toEqual(["gpt-tiny"]);
    await listed.close();
  });

  it("a host without an AI model says that it has none to ask", async () => {
    const { host, wire } = await openOffice(newFolder(), [call("poem", { about: "rain" }), { text: "No." }], {
      answers: ["once"],
      sampling: { models: [await chooseModel({ MODEL_PROVIDER: "rules" })] },
    });
    await host.ask("Go");
    expect(toldIn(wire, 1).poem).toMatch(/sampling/);
  });

  it("a server learns where it may work", async () => {
    const uri = pathToFileURL("/home/ann").href;
    const { host, wire } = await openOffice(newFolder(), [call("where"), { text: "There." }], {
      roots: [{ uri }],
    });
    await host.ask("Go");
    expect(toldIn(wire, 1).where).toBe(uri);
  });
});

describe("a program that is killed", () => {
  it("a server's question survives it: it is asked again, and nothing that was done is done again", async () => {
    const folder = newFolder();
    const store = memoryStore();
    const waits = signalled<Map<string, string>>();
    const first = await openOffice(folder, [call("book", { seats: 2 })], {
      ...ALLOW,
      checkpoints: store,
      onElicit: (_, { signal }) => {
        waits.resolve(store.left());
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    });
    const stop = new AbortController();
    const asking = first.host.conversation({ id: "trip" }).ask("Book two", { signal: stop.signal });
    const left = (await Promise.race([waits.promise, asking])) as Map<string, string>;
    stop.abort();
    await expect(asking).rejects.toMatchObject({ code: "cancelled" });

    const later = await openOffice(folder, [{ text: "Booked." }], {
      ...ALLOW,
      checkpoints: memoryStore(left),
      onElicit: ({ message }) => {
        expect(message).toBe("Whose are the 2 seats?");
        return { action: "accept", content: { name: "Ann" } };
      },
    });
    const conversation = later.host.conversation({ id: "trip" });
    expect(await conversation.isWaiting()).toBe(true);
    expect(await conversation.resume()).toMatchObject({ text: "Booked." });
    expect(toldIn(later.wire, 0).book).toBe("2 for Ann");
    expect(didIn(folder)).toEqual(["reserve 2"]);
    expect(await conversation.isWaiting()).toBe(false);
    expect(await conversation.resume()).toBeUndefined();
  });

  it("an approval that it waited for survives it", async () => {
    const folder = newFolder();
    const store = memoryStore();
    const waits = signalled<Map<string, string>>();
    const first = await openOffice(folder, [call("note", { text: "x" })], {
      checkpoints: store,
      onApproval: (_, { signal }) => {
        waits.resolve(store.left());
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        );
      },
    });
    const stop = new AbortController();
    const asking = first.host.conversation({ id: "t" }).ask("Note x", { signal: stop.signal });
    const left = (await Promise.race([waits.promise, asking])) as Map<string, string>;
    stop.abort();
    await expect(asking).rejects.toMatchObject({ code: "cancelled" });

    const later = await openOffice(folder, [{ text: "Noted." }], {
      checkpoints: memoryStore(left),
      answers: ["once"],
    });
    expect(await later.host.conversation({ id: "t" }).resume()).toMatchObject({ text: "Noted." });
    expect(later.asked).toMatchObject([{ tool: "note", arguments: { text: "x" } }]);
    expect(didIn(folder)).toEqual(["note x"]);
  });

  it("a call that was running is not made again, and one that only reads is", async () => {
    const folder = newFolder();
    const store = memoryStore();
    let left = new Map<string, string>();
    const calls = [
      { id: "d", name: "die", args: {} },
      { id: "c", name: "count", args: { of: "abc" } },
    ];
    const first = await openOffice(folder, [{ calls }, { text: "Done." }], { ...ALLOW, checkpoints: store });
    await first.host.conversation({ id: "t" }).ask("Go", {
      onEvent: ({ type }) => {
        if (type === "tool_start" && left.size === 0) left = store.left();
      },
    });
    const later = await openOffice(folder, [{ text: "Done." }], { ...ALLOW, checkpoints: memoryStore(left) });
    await later.host.conversation({ id: "t" }).resume();
    expect(toldIn(later.wire, 0)).toMatchObject({
      d: expect.stringMatching(/the program ended while this call was running/),
      c: "3",
    });
  });

  it("a new question ends the turn that was left", async () => {
    const folder = newFolder();
    const store = memoryStore();
    let left = new Map<string, string>();
    const first = await openOffice(folder, [call("note", { text: "x" }), { text: "No." }], {
      checkpoints: store,
      onApproval: () => {
        left = store.left();
        return "deny";
      },
    });
    await first.host.conversation({ id: "t" }).ask("Note x");
    const later = await openOffice(folder, [{ text: "Hello." }], { checkpoints: memoryStore(left) });
    expect(await later.host.conversation({ id: "t" }).ask("Hello?")).toMatchObject({ text: "Hello." });
    expect(toldIn(later.wire, 0).note).toMatch(/^No result came/);
  });
});

describe("a turn", () => {
  it("whose steps are used up ends in an answer: no tool may be called for it", async () => {
    const again = call("count", { of: "a" });
    const options = { recursionLimit: 5 };
    const { host, wire, events, onEvent } = await openOffice(
      newFolder(),
      [again, again, { text: "So far: 1." }],
      options,
    );
    expect(await host.ask("Count", { onEvent })).toMatchObject({ text: "So far: 1.", ok: true });
    expect(wire.requests.map(({ body }) => body.tool_choice)).toEqual([undefined, undefined, "none"]);
    expect(wire.requests[2]?.body.tools.length).toBeGreaterThan(0);
    expect(JSON.stringify(wire.requests[2]?.body.messages[0])).toContain("Answer now with what you know");
    expect(events).toContainEqual({ type: "step_limit", limit: 5 });
  });

  it("of a long conversation leaves out the oldest turns whole, and then results, but not the last", async () => {
    const big = (id: string) => call("count", { of: "x".repeat(3_000) }, id);
    const script = [big("a"), { text: "One." }, big("b"), big("c"), { text: "Two." }];
    const { host, wire, events, onEvent } = await openOffice(newFolder(), script, {
      maxContextCharacters: 7_000,
    });
    const conversation = host.conversation();
    await conversation.ask("First?");
    await conversation.ask("Second?", { onEvent });
    const last = wire.requests[4]?.body.messages;
    expect(JSON.stringify(last)).not.toContain("First?");
    expect(JSON.stringify(last)).toContain("Second?");
    expect(Object.keys(toldIn(wire, 4))).toEqual(["b", "c"]);
    expect(events).toContainEqual({ type: "trimmed", turns: 1, results: 0 });
  });

  it("tells how long it took, and what it cost", async () => {
    const { host, events, onEvent } = await openOffice(
      newFolder(),
      [call("count", { of: "a" }), { text: "One." }],
      { provider: "anthropic" },
    );
    const answer = await host.ask("Count", { onEvent });
    expect(answer).toMatchObject({ usage: { inputTokens: 2, outputTokens: expect.any(Number) } });
    expect(answer.milliseconds).toBeGreaterThan(0);
    const ends = events.filter(({ type }) => type === "model_end");
    expect(ends).toMatchObject([{ usage: { inputTokens: 1 } }, { usage: { inputTokens: 1 } }]);
    expect(typesOf(events).at(-1)).toBe("answer");
  });

  it("keeps the order of many calls made at once", async () => {
    const calls = Array.from({ length: 12 }, (_, index) => ({
      id: `c${index}`,
      name: "count",
      args: { of: "x".repeat(index) },
    }));
    const { host, wire } = await openOffice(newFolder(), [{ calls }, { text: "Done." }]);
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on("warning", onWarning);
    await host.ask("Go");
    process.off("warning", onWarning);
    expect(warnings).not.toContain("MaxListenersExceededWarning");
    expect(Object.entries(toldIn(wire, 1))).toEqual(calls.map(({ id }, index) => [id, String(index)]));
  });
});
