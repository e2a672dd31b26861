/** Where conversations are kept: one contract, in files and in SQLite; what is kept is whole, private, and bounded. */

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@patchbay/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type ConversationStore,
  chooseModel,
  conversationDatabase,
  conversationFiles,
  createHost,
} from "../src/index.ts";
import { calculator } from "./servers.ts";

let folder: string;
const open = new Set<{ close(): void }>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "patchbay-memory-"));
});
afterEach(() => {
  for (const each of open) each.close();
  open.clear();
  rmSync(folder, { recursive: true });
});

type Options = { maxConversations?: number };
const KINDS: Record<string, (options?: Options) => Promise<ConversationStore>> = {
  files: async (options) => conversationFiles(join(folder, "kept"), options),
  async SQLite(options) {
    const database = await conversationDatabase(join(folder, "kept", "conversations.sqlite"), options);
    open.add(database);
    return database;
  },
};

describe.each(Object.entries(KINDS))("in %s", (_kind, store) => {
  test("what is saved is there, for another that opens it too", async () => {
    const first = await store();
    await first.save("a", "one");
    await first.save("a", "two");
    await first.save("b", "x".repeat(1_000_000));
    const second = await store();
    expect(await second.load("a")).toBe("two");
    expect((await second.load("b"))?.length).toBe(1_000_000);
    expect(await second.load("c")).toBeUndefined();
    expect((await second.list()).map(({ id }) => id).sort()).toEqual(["a", "b"]);
    await second.remove("a");
    expect(await first.load("a")).toBeUndefined();
  });

  test("only its user may read it", async () => {
    await (await store()).save("a", "one");
    const files = readdirSync(join(folder, "kept"));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(statSync(join(folder, "kept", file)).mode & 0o077).toBe(0);
  });

  test("writers at the same time lose nothing, and what they save is whole", async () => {
    const stores = await Promise.all([store(), store()]);
    const texts = Array.from({ length: 20 }, (_, number) => `${number} `.repeat(1_000));
    await Promise.all(
      texts.flatMap((text, number) => [
        stores[number % 2]?.save(`own-${number}`, text),
        stores[0]?.save("shared", text),
      ]),
    );
    for (const [number, text] of texts.entries()) expect(await stores[0]?.load(`own-${number}`)).toBe(text);
    expect(texts).toContain(await stores[1]?.load("shared"));
  });

  test("the oldest go when there are more than maxConversations", async () => {
    const kept = await store({ maxConversations: 2 });
    for (const id of ["a", "b", "c", "d"]) await kept.save(id, id);
    expect(await kept.list()).toHaveLength(2);
    expect(await kept.load("d")).toBe("d");
  });

  test("who has it for a turn has it alone, and what was said meanwhile is read", async () => {
    const [first, second] = [await store(), await store()];
    const release = await first.hold?.("a");
    let later = false;
    const waiting = second.hold?.("a").then((next) => {
      later = true;
      return next;
    });
    expect(await second.hold?.("b").then((other) => other?.())).toBeUndefined();
    expect(later).toBe(false);
    await release?.();
    await (await waiting)?.();

    const model = await chooseModel({ MODEL_PROVIDER: "rules" });
    const hosts = [first, second].map(async (checkpoints) =>
      createHost({
        clients: { calculator: await connect(calculator()) },
        model,
        checkpoints,
        onApproval: () => "once",
      }),
    );
    const [one, other] = await Promise.all(hosts);
    const id = "shared";
    const [here, there] = [one?.conversation({ id }), other?.conversation({ id })];
    await here?.ask("add: 1 2");
    await there?.ask("add: 3 4");
    await here?.ask("add: 5 6");
    await Promise.all([one?.close(), other?.close()]);
    const kept = (await first.load(id)) ?? "";
    for (const said of ["add: 1 2", "add: 3 4", "add: 5 6"]) expect(kept).toContain(said);
  });

  test("a conversation goes on in another host", async () => {
    const model = await chooseModel({ MODEL_PROVIDER: "rules" });
    const host = async () =>
      createHost({
        clients: { calculator: await connect(calculator()) },
        model,
        checkpoints: await store(),
        onApproval: () => "once",
      });
    const before = await host();
    const conversation = before.conversation();
    expect((await conversation.ask("add: 1 2")).text).toBe("3");
    await before.close();
    const after = await host();
    const resumed = after.conversation({ id: conversation.id });
    expect(await resumed.isWaiting()).toBe(false);
    expect((await resumed.ask("add: 3 4")).text).toBe("7");
    await resumed.clear();
    expect(await (await store()).load(conversation.id)).toBeUndefined();
    await after.close();
  });
});
