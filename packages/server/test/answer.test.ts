/** Handing over an answer: once, even when whoever takes it fails. */

import { wireOf } from "@patchbay/core";
import { describe, expect, test } from "vitest";
import { answer } from "../src/answer.ts";
import { Call, type Caller } from "../src/exchange.ts";
import { McpServer } from "../src/index.ts";

const CALLER: Caller = {
  wire: wireOf("2025-11-25"),
  client: { info: undefined, capabilities: {} },
  logLevel: "info",
};
const WORKS: [name: string, work: Parameters<typeof answer>[4]][] = [
  ["at once", () => ({})],
  ["later", async () => ({})],
  ["with an error at once", () => expect.fail("work")],
  ["with an error later", async () => expect.fail("work")],
];

describe("an answer that cannot be taken", () => {
  test.each(WORKS)("given %s is not followed by another, and is reported", async (_name, work) => {
    const reported: unknown[] = [];
    const server = new McpServer(
      { name: "s", version: "1" },
      { onError: (error) => reported.push((error as Error).message) },
    );
    const call = new Call(
      CALLER,
      () => {},
      () => {
        throw new Error("no dialogue");
      },
    );
    let handed = 0;
    const taken = new Promise<void>((resolve) => {
      answer(server, call, 1, "ping", work, () => {
        handed++;
        queueMicrotask(() => queueMicrotask(resolve));
        throw new Error("taker");
      });
    });
    await taken;
    expect(handed).toBe(1);
    expect(reported.at(-1)).toBe("taker");
  });
});
