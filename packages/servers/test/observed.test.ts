/** Who looks on sees each message, both ways, over each transport; and what it throws is its own affair. */

import { connect, type Target, type WireMessage } from "@patchbay/client";
import { serveHttp } from "@patchbay/server/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEverything } from "../src/everything/index.ts";

describe.each(["memory", "HTTP"])("over %s", (transport) => {
  const server = createEverything();
  let target: Target;
  let running: Awaited<ReturnType<typeof serveHttp>> | undefined;
  beforeAll(async () => {
    running = transport === "HTTP" ? await serveHttp(server, { port: 0 }) : undefined;
    target = running?.url ?? server;
  });
  afterAll(() => running?.close());

  test.each(["modern", "legacy"] as const)("of a %s connection", async (era) => {
    const seen: WireMessage[] = [];
    const client = await connect(target, {
      era,
      onMessage: (message) => void seen.push(message),
      onElicit: () => ({ action: "decline" }),
    });
    await client.callTool("test_tool_with_progress", {}, { onProgress: () => {} });
    await client.callTool("test_elicitation", { message: "Who?" });
    await client.close();

    const told = seen.map(({ direction, text }) => {
      const { method, id, result } = JSON.parse(text);
      return `${direction} ${method ?? (result === undefined ? "error" : "result")}${id === undefined ? "" : ` ${typeof id}`}`;
    });
    expect(told[0]).toBe(`sent ${era === "modern" ? "server/discover" : "initialize"} number`);
    expect(told[1]).toBe("received result number");
    expect(told).toContain("sent tools/call number");
    expect(told).toContain("received notifications/progress");
    if (era === "legacy") {
      expect(told.filter((each) => each.startsWith("received elicitation/create"))).toHaveLength(1);
      expect(told.some((each) => /^sent result/.test(each))).toBe(true);
    } else expect(told.filter((each) => each === "sent tools/call number")).toHaveLength(3);
    const answered = seen.filter(({ text }) => "result" in JSON.parse(text));
    expect(answered.length).toBeGreaterThanOrEqual(3);
  });
});

test("what it throws disturbs nobody", async () => {
  const client = await connect(createEverything(), {
    onMessage: () => {
      throw new Error("full");
    },
  });
  expect((await client.listTools()).length).toBeGreaterThan(0);
  await client.close();
});
