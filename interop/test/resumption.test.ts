/** Connections that end while something is under way: who comes back, gets each event once, and then the answer. */

import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Progress } from "@patchbay/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patchbay } from "../clients/patchbay.ts";
import type { Connect, PeerClient } from "../clients/peer-client.ts";
import { sdkV1 } from "../clients/sdk-v1.ts";
import { sdkV2 } from "../clients/sdk-v2.ts";
import { type Attendance, takeAttendance } from "../processes/attendance.ts";
import { type HttpServerProcess, startHttpServer } from "../processes/http-server.ts";
import { startTcpProxy, type TcpProxy } from "../processes/tcp-proxy.ts";

const CASES: { name: string; connect: Connect; server: string; era: "legacy" | "modern" }[] = [
  { name: "SDK v1", connect: sdkV1, server: "patchbay", era: "legacy" },
  { name: "SDK v2", connect: sdkV2("legacy"), server: "patchbay", era: "legacy" },
  { name: "SDK v2", connect: sdkV2({ pin: "2026-07-28" }), server: "patchbay", era: "modern" },
  { name: "Patchbay", connect: patchbay("legacy"), server: "sdk-v1", era: "legacy" },
  { name: "Patchbay", connect: patchbay("legacy"), server: "sdk-v2", era: "legacy" },
  { name: "Patchbay", connect: patchbay("modern"), server: "sdk-v2", era: "modern" },
  { name: "Patchbay", connect: patchbay("modern"), server: "patchbay", era: "modern" },
];
const NOTE = "note:///1";

describe.each(CASES)("$name × $server ($era)", ({ name, connect, server, era }) => {
  let attendance: Attendance;
  let http: HttpServerProcess;
  let proxy: TcpProxy;
  let client: PeerClient;
  /** Has a connection that nobody cuts. */
  let bystander: PeerClient;

  beforeAll(async () => {
    attendance = await takeAttendance();
    const file = fileURLToPath(new URL(`../servers/${server}.mjs`, import.meta.url));
    http = await startHttpServer([file, "http"], attendance.env);
    proxy = await startTcpProxy(http.url);
    client = await connect({ url: proxy.url });
    bystander = await patchbay(era)({ url: http.url });
  });

  afterAll(async () => {
    await client?.close();
    await bystander?.close();
    await proxy?.close();
    await http?.stop();
    await attendance.close();
  });

  /** Calls a tool that waits for each step to have been heard; what is to happen then, happens before it is told. */
  async function followed(name: string, args: object, onStep: (step: number) => void) {
    const key = randomUUID();
    const heard: Progress[] = [];
    const replies: Promise<unknown>[] = [];
    const onProgress = (step: Progress) => {
      heard.push(step);
      onStep(step.progress);
      replies.push(bystander.callTool("heard", { key, step: step.progress }));
    };
    const result = await client.callTool(name, { ...args, key }, { onProgress });
    await Promise.all(replies);
    return { steps: heard.map(({ progress }) => progress), content: result.content };
  }

  /** Listens to one resource; each `next` is told when it is heard of again. */
  async function listened() {
    const heard: string[] = [];
    let hear = (_: string) => {};
    const next = () =>
      new Promise<void>((resolve) => {
        hear = (what) => {
          if (what === NOTE) heard.push(what);
          if (what === NOTE) resolve();
        };
      });
    const subscription = await client.listen({ resourceSubscriptions: [NOTE] }, (what) => hear(what));
    const first = next();
    await bystander.callTool("change");
    await first;
    return { heard, next, subscription };
  }

  describe.runIf(era === "legacy")("comes back for", () => {
    test("changes that were told while its stream was cut", async () => {
      const { heard, next, subscription } = await listened();
      const second = next();
      const back = proxy.seen("Last-Event-ID");
      proxy.cut();
      await bystander.callTool("change");
      await Promise.all([second, back]);
      const third = next();
      await bystander.callTool("change");
      await third;
      expect(heard).toHaveLength(3);
      await subscription.close();
    });

    test("a call whose server let go of the connection", async () => {
      const back = proxy.seen("Last-Event-ID");
      const { steps, content } = await followed("detach", {}, () => {});
      await back;
      expect(steps).toEqual([1, 2, 3]);
      expect(content).toEqual([{ type: "text", text: "came back" }]);
    });

    test("a call whose connection is cut, twice", async () => {
      const { steps, content } = await followed("count", { to: 4 }, (step) => {
        if (step === 1 || step === 3) proxy.cut();
      });
      expect(steps).toEqual([1, 2, 3, 4]);
      expect(content).toEqual([{ type: "text", text: "counted to 4" }]);
    });
  });

  describe.runIf(era === "modern")("has nothing to come back for", () => {
    test("and the server stops working on a call whose connection is cut", async () => {
      const key = randomUUID();
      const giveUp = new AbortController();
      const options = { signal: giveUp.signal, onProgress: () => proxy.cut() };
      const call = client.callTool("hang", { key }, options);
      const refused = expect(call).rejects.toThrow();
      expect((await bystander.callTool("stopped", { key })).content).toEqual([
        { type: "text", text: "stopped" },
      ]);
      // The SDK does not notice, and would wait until its time is over.
      if (name === "SDK v2") giveUp.abort(new Error("enough"));
      await refused;
    });

    test("but listens again", async () => {
      if (name === "SDK v2") {
        // It leaves that to the application.
        const { ended } = await client.listen({ resourceSubscriptions: [NOTE] }, () => {});
        proxy.cut();
        expect(await ended).toBe("remote");
        return;
      }
      const { heard, next, subscription } = await listened();
      const second = next();
      proxy.cut();
      // It says by itself that the resource may have changed meanwhile.
      await second;
      const third = next();
      await bystander.callTool("change");
      await third;
      expect(heard).toHaveLength(3);
      await subscription.close();
    });
  });
});
