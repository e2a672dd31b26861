/** The official SDKs' clients behind the real nginx and HAProxy, before three instances of Patchbay. */

import { describe, vi } from "vitest";
import { behind } from "../../deploy/test/behind.ts";
import { type Client, type Sessions, seenThrough } from "../../deploy/test/body.ts";
import { sdkV1 } from "../clients/sdk-v1.ts";
import { sdkV2 } from "../clients/sdk-v2.ts";

// Each kind of sessions starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CLIENTS: Client[] = [
  { name: "SDK v1", connect: sdkV1, transport: "http", era: "legacy" },
  { name: "SDK v1 over HTTP+SSE", connect: sdkV1, transport: "sse", era: "legacy" },
  { name: "SDK v2, legacy", connect: sdkV2("legacy"), transport: "http", era: "legacy" },
  { name: "SDK v2, modern", connect: sdkV2({ pin: "2026-07-28" }), transport: "http", era: "modern" },
];
const SESSIONS: Sessions[] = ["memory", "stateless", "sealed", "redis"];

for (const sessions of SESSIONS) {
  behind(sessions, (balanced) => {
    describe.each(CLIENTS)("$name", (client) => seenThrough(client, sessions, balanced));
  });
}
