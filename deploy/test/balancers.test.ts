/** Our client behind the real nginx and HAProxy, which run on the very files that users copy. */

import { describe, vi } from "vitest";
import { patchbay } from "../../interop/clients/patchbay.ts";
import { behind } from "./behind.ts";
import { type Client, type Sessions, seenThrough } from "./body.ts";
import { atTheEdges } from "./edges.ts";

// Each kind of sessions starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const CLIENTS: Client[] = [
  { name: "modern", connect: patchbay("modern"), transport: "http", era: "modern" },
  { name: "legacy", connect: patchbay("legacy"), transport: "http", era: "legacy" },
  { name: "legacy over HTTP+SSE", connect: patchbay("legacy"), transport: "sse", era: "legacy" },
];
const SESSIONS: Sessions[] = ["memory", "stateless", "sealed", "redis"];

for (const sessions of SESSIONS) {
  behind(sessions, (balanced) => {
    if (sessions === "memory") atTheEdges(balanced);
    describe.each(CLIENTS)("a client that is $name", (client) => seenThrough(client, sessions, balanced));
  });
}
