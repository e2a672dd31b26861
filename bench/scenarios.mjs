/**
 * What is measured. A scenario is a name, its contenders, and a driver that opens one of them and runs load against it.
 * To add a row, add a contender; to add a table, add a scenario: `drivers/` has HTTP and stdio, `messages.mjs` the calls.
 */

import { http } from "./drivers/http.mjs";
import { stdio } from "./drivers/stdio.mjs";
import { echo, MODERN } from "./messages.mjs";

/**
 * @typedef {object} Contender
 * @property {string} name what `--only` takes; a contender of the same library starts with the same word
 * @property {string} title
 * @property {string} [revision] the newest that it speaks of the era it is asked in
 * @property {string[]} [serve] its server: a file here, and arguments
 * @property {string} [accept] the Accept header, if not the two types that the specification demands
 * @property {boolean} [floor] bare Node: no MCP, no handshake
 * @property {boolean} [ours]
 * @property {string} [cannot] why it is not in this scenario
 */

/**
 * @typedef {object} Opened a contender that is ready for load
 * @property {number} pid
 * @property {() => Promise<void>} ready called before each run, and not measured
 * @property {(ms: number) => Promise<import("./closed-loop.mjs").Sample>} run
 * @property {() => Promise<void>} close
 */

/** @typedef {{ name: string, title: string, contenders: Contender[], driver: (contender: Contender, nodeOptions: string[]) => Promise<Opened> }} Scenario */

const LEGACY = "2025-11-25";

/** @type {Scenario[]} */
export const scenarios = [
  {
    name: "echo-http",
    title: "tools/call echo over Streamable HTTP, 64 connections",
    driver: http(echo),
    contenders: [
      {
        name: "bare",
        title: "bare node:http",
        revision: MODERN,
        serve: ["servers/bare-http.mjs"],
        floor: true,
      },
      {
        name: "patchbay-modern",
        title: "Patchbay",
        revision: MODERN,
        serve: ["servers/patchbay-http.mjs"],
        ours: true,
      },
      {
        name: "patchbay-legacy",
        title: "Patchbay, sessions",
        revision: LEGACY,
        serve: ["servers/patchbay-http.mjs"],
        ours: true,
      },
      {
        name: "sdk-v1-stateless",
        title: "official SDK v1, stateless",
        revision: LEGACY,
        serve: ["servers/sdk-v1-http.mjs", "stateless"],
      },
      {
        name: "sdk-v1-sessions",
        title: "official SDK v1, sessions",
        revision: LEGACY,
        serve: ["servers/sdk-v1-http.mjs", "sessions"],
      },
      {
        name: "sdk-v2-modern",
        title: "official SDK v2",
        revision: MODERN,
        serve: ["servers/sdk-v2-http.mjs"],
      },
      {
        name: "sdk-v2-legacy",
        title: "official SDK v2, stateless",
        revision: LEGACY,
        serve: ["servers/sdk-v2-http.mjs"],
      },
      {
        name: "sdk-v2-sessions",
        title: "official SDK v2, sessions",
        revision: LEGACY,
        serve: ["servers/sdk-v2-sessions-http.mjs"],
      },
      {
        name: "mcp-lite",
        title: "mcp-lite, stateless",
        revision: "2025-06-18",
        serve: ["servers/mcp-lite-http.mjs", "stateless"],
      },
      {
        name: "mcp-lite-json",
        title: "mcp-lite, stateless, asked for JSON only",
        revision: "2025-06-18",
        serve: ["servers/mcp-lite-http.mjs", "stateless"],
        accept: "application/json",
      },
      {
        name: "mcp-lite-sessions",
        title: "mcp-lite, sessions",
        revision: "2025-06-18",
        serve: ["servers/mcp-lite-http.mjs", "sessions"],
      },
      { name: "tmcp-modern", title: "tmcp", revision: MODERN, serve: ["servers/tmcp-http.mjs"] },
      { name: "tmcp-legacy", title: "tmcp, sessions", revision: LEGACY, serve: ["servers/tmcp-http.mjs"] },
    ],
  },
  {
    name: "echo-stdio",
    title: "tools/call echo over stdio, 64 in flight",
    driver: stdio(echo),
    contenders: [
      {
        name: "bare",
        title: "bare readline loop",
        revision: MODERN,
        serve: ["servers/bare-stdio.mjs"],
        floor: true,
      },
      {
        name: "patchbay-modern",
        title: "Patchbay",
        revision: MODERN,
        serve: ["servers/patchbay-stdio.mjs"],
        ours: true,
      },
      {
        name: "patchbay-legacy",
        title: "Patchbay",
        revision: LEGACY,
        serve: ["servers/patchbay-stdio.mjs"],
        ours: true,
      },
      { name: "sdk-v1", title: "official SDK v1", revision: LEGACY, serve: ["servers/sdk-v1-stdio.mjs"] },
      {
        name: "sdk-v2-modern",
        title: "official SDK v2",
        revision: MODERN,
        serve: ["servers/sdk-v2-stdio.mjs"],
      },
      {
        name: "sdk-v2-legacy",
        title: "official SDK v2",
        revision: LEGACY,
        serve: ["servers/sdk-v2-stdio.mjs"],
      },
      { name: "mcp-lite", title: "mcp-lite", cannot: "has no stdio transport" },
      { name: "tmcp-modern", title: "tmcp", revision: MODERN, serve: ["servers/tmcp-stdio.mjs"] },
      { name: "tmcp-legacy", title: "tmcp", revision: LEGACY, serve: ["servers/tmcp-stdio.mjs"] },
    ],
  },
];
