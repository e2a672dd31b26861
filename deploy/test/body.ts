/** What every client of the instances behind a balancer must see, whichever balancer, session kind and client library. */

import { randomUUID } from "node:crypto";
import type { Progress } from "@patchbay/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { patchbay } from "../../interop/clients/patchbay.ts";
import type { Address, Answers, Connect, PeerClient } from "../../interop/clients/peer-client.ts";
import { startTcpProxy } from "../../interop/processes/tcp-proxy.ts";
import type { Instance } from "../processes/instances.mjs";

/** Who connects, how, and what can be expected then. */
export interface Client {
  name: string;
  connect: Connect;
  transport: "http" | "sse";
  era: "legacy" | "modern";
}

/** Which instance serves what. */
export type Sessions = "memory" | "stateless" | "sealed" | "redis";

export interface Behind {
  readonly origin: string;
  readonly instances: readonly Instance[];
}

const WATCHED = "test://watched-resource";
const SESSIONS_PER_CLIENT = 6;

/** Clients of each instance itself, past the balancer. */
export async function connectDirectly(instances: readonly Instance[]): Promise<PeerClient[]> {
  return Promise.all(instances.map(({ url }) => patchbay("modern")({ url })));
}

export function textOf({ content }: { content: readonly unknown[] }): string {
  return (content[0] as { text: string }).text;
}

export function seenThrough(
  { connect, transport, era }: Client,
  sessions: Sessions,
  behind: () => Behind,
): void {
  const legacyHttp = era === "legacy" && transport === "http";
  /** Whether the instance that runs a call hears what its client posts meanwhile. */
  const hears = !(legacyHttp && (sessions === "stateless" || sessions === "sealed"));
  /** Whether what one request causes is told on another one's stream. */
  const tells = legacyHttp
    ? sessions === "memory" || sessions === "redis"
    : sessions === "redis" || transport === "sse";
  const answers: Answers = {
    elicit: () => ({ action: "accept", content: { username: "ada", email: "ada@example.com" } }),
    sample: () => ({ role: "assistant", model: "none", content: { type: "text", text: "42" } }),
    roots: [],
  };
  let client: PeerClient;
  let direct: PeerClient[];

  const address = (): Address => {
    const { origin } = behind();
    return transport === "sse" ? { url: `${origin}/sse`, sse: true } : { url: `${origin}/mcp` };
  };

  beforeAll(async () => {
    client = await connect(address(), answers);
    direct = await connectDirectly(behind().instances);
  });
  afterAll(async () => {
    await client?.close();
    await Promise.all(direct?.map((each) => each.close()) ?? []);
  });

  /** Tells the instance that runs a call, whichever it is. */
  const everywhere = (tool: string, args: Record<string, unknown>) =>
    Promise.all(direct.map((each) => each.callTool(tool, args)));

  test("answers many calls at once, each with its own result", async () => {
    const sent = Array.from({ length: 60 }, (_, number) => `message ${number}`);
    const echoed = await Promise.all(
      sent.map(async (message) => textOf(await client.callTool("echo", { message }))),
    );
    expect(echoed).toEqual(sent);
  });

  test("goes where it may go: any instance, or the session's own", async () => {
    const others = await Promise.all(
      Array.from({ length: SESSIONS_PER_CLIENT - 1 }, () => connect(address())),
    );
    try {
      const pids = await Promise.all(
        [client, ...others].map(async (each) => {
          const asked = Array.from({ length: 6 }, async () => textOf(await each.callTool("where")));
          return new Set(await Promise.all(asked));
        }),
      );
      const all = behind().instances.map(({ pid }) => String(pid()));
      expect(new Set(pids.flatMap((each) => [...each]))).toEqual(new Set(all));
      const sticks = transport === "sse" || (legacyHttp && sessions === "memory");
      if (sticks) expect(pids.map(({ size }) => size)).toEqual(Array(SESSIONS_PER_CLIENT).fill(1));
    } finally {
      await Promise.all(others.map((each) => each.close()));
    }
  });

  test("hears of each step before the next is taken", async () => {
    const key = randomUUID();
    const heard: number[] = [];
    const replies: Promise<unknown>[] = [];
    const onProgress = ({ progress: step }: Progress) => {
      heard.push(step);
      replies.push(everywhere("heard", { key, step }));
    };
    expect(textOf(await client.callTool("count", { to: 3, key }, { onProgress }))).toBe("counted to 3");
    expect(heard).toEqual([1, 2, 3]);
    await Promise.all(replies);
  });

  test.runIf(hears)("is asked a question while its call is under way", async () => {
    const text = textOf(await client.callTool("test_elicitation", { message: "Who?" }));
    expect(text).toMatch(/action=accept.*ada@example\.com/);
  });

  test.runIf(hears)("cancels a call, and the instance stops working on it", async () => {
    const key = randomUUID();
    const cancel = new AbortController();
    const call = client.callTool(
      "hang",
      { key },
      { signal: cancel.signal, onProgress: () => cancel.abort(new Error("changed my mind")) },
    );
    await expect(call).rejects.toThrow("changed my mind");
    const giveUp = new AbortController();
    const asked = direct.map((each) => each.callTool("stopped", { key }, { signal: giveUp.signal }));
    expect(textOf(await Promise.any(asked))).toBe("stopped");
    giveUp.abort();
    await Promise.allSettled(asked);
  });

  test.runIf(legacyHttp && sessions === "redis")(
    "comes back after its connection is cut, to whichever instance, and hears each step once",
    async () => {
      const proxy = await startTcpProxy(`${behind().origin}/mcp`);
      const cutOff = await connect({ url: proxy.url });
      const key = randomUUID();
      const heard: number[] = [];
      const replies: Promise<unknown>[] = [];
      const onProgress = ({ progress: step }: Progress) => {
        heard.push(step);
        if (step === 1 || step === 3) proxy.cut();
        replies.push(everywhere("heard", { key, step }));
      };
      expect(textOf(await cutOff.callTool("count", { to: 4, key }, { onProgress }))).toBe("counted to 4");
      expect(heard).toEqual([1, 2, 3, 4]);
      await Promise.all(replies);
      await cutOff.close();
      await proxy.close();
    },
  );

  test.runIf(tells)("hears of changes", async () => {
    let hear: (what: string) => void = () => {};
    const heard = new Promise<string>((resolve) => {
      hear = resolve;
    });
    const subscription = await client.listen({ resourceSubscriptions: [WATCHED] }, hear);
    await client.callTool("touch");
    expect(await heard).toBe(WATCHED);
    await subscription.close();
  });
}
