/** The kinds of sessions that need nothing beside this process, each through the suite of all. */

import { afterEach, describe, vi } from "vitest";
import { memorySessions, sealedSessions } from "../src/transports/http.ts";
import { describeServedSessions, describeSessionStore } from "./session-kinds.ts";

const SECRETS = ["0123456789abcdef0123456789abcdef"];

/** The clock, and nothing but the clock. */
async function pass(ms: number): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}
afterEach(() => void vi.useRealTimers());

describe("a store", () => {
  describeSessionStore("in memory", { open: async (options) => memorySessions(options), pass, keeps: true });
  describeSessionStore("that is sealed into ids", {
    open: async ({ maxSessionLength }) =>
      sealedSessions({ secrets: SECRETS, ...(maxSessionLength !== undefined && { maxSessionLength }) }),
    pass,
    keeps: false,
  });
});

describe("over HTTP", () => {
  describeServedSessions("memory", async () => memorySessions());
  describeServedSessions("sealed", async () => sealedSessions({ secrets: SECRETS }));
  describeServedSessions("stateless", async () => "stateless");
});
