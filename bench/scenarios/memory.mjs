/** What sessions keep in a server's memory. */

import { memory } from "../measures/memory.mjs";
import { LEGACY } from "../messages.mjs";
import { bytes } from "../report/cells.mjs";
import { atMost } from "../targets.mjs";

/** A finished session leaves nothing; a few bytes are the collector's doing. */
const NOTHING = 16;
const FEWER = 500;

/** @type {import("../scenarios.mjs").Scenario} */
export const sessionMemory = {
  name: "memory",
  title: "Memory that a legacy session keeps, Streamable HTTP",
  measured: memory,
  targets: [
    atMost(1024, "patchbay-memory", "idle", "an idle session", bytes),
    atMost(4096, "patchbay-memory", "streamAbove", "its open stream, above that of bare node:http", bytes),
    atMost(
      NOTHING,
      "patchbay-memory",
      "finishedAbove",
      "a finished session, above a stream of bare node:http",
      bytes,
    ),
  ],
  contenders: [
    {
      name: "bare",
      title: "bare node:http, streams alone",
      revision: LEGACY,
      serve: ["servers/bare-streams-http.mjs"],
      bare: true,
      floor: true,
    },
    {
      name: "patchbay-memory",
      title: "Patchbay",
      revision: LEGACY,
      serve: ["servers/patchbay-http.mjs", "memory"],
      ours: true,
    },
    {
      name: "patchbay-sealed",
      title: "Patchbay, sealed",
      revision: LEGACY,
      serve: ["servers/patchbay-http.mjs", "sealed"],
      ours: true,
    },
    {
      name: "sdk-v1-sessions",
      title: "official SDK v1",
      revision: LEGACY,
      serve: ["servers/sdk-v1-http.mjs", "sessions"],
      sessions: FEWER,
    },
    {
      name: "sdk-v2-sessions",
      title: "official SDK v2",
      revision: LEGACY,
      serve: ["servers/sdk-v2-sessions-http.mjs"],
      sessions: FEWER,
    },
    {
      name: "mcp-lite-sessions",
      title: "mcp-lite",
      revision: "2025-06-18",
      serve: ["servers/mcp-lite-http.mjs", "sessions"],
      sessions: FEWER,
    },
    {
      name: "tmcp-legacy",
      title: "tmcp",
      revision: LEGACY,
      serve: ["servers/tmcp-http.mjs"],
      sessions: FEWER,
    },
  ],
};
