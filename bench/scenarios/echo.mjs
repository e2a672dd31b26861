/** `tools/call` of one small tool: over Streamable HTTP, and over stdio. */

import { http } from "../drivers/http.mjs";
import { stdio } from "../drivers/stdio.mjs";
import { throughput } from "../measures/throughput.mjs";
import { echo, LEGACY, MODERN } from "../messages.mjs";
import { timesAsFast } from "../targets.mjs";

/** @type {import("../scenarios.mjs").Scenario[]} */
export const echoes = [
  {
    name: "echo-http",
    title: "tools/call echo over Streamable HTTP, 64 connections",
    measured: throughput(http(echo)),
    targets: [
      timesAsFast(0.9, "patchbay-modern", "bare", "of bare node:http, every check of the revision on"),
      timesAsFast(0.85, "patchbay-legacy", "bare", "of bare node:http, in a session"),
      timesAsFast(0.85, "patchbay-sealed", "bare", "of bare node:http, in a sealed session"),
      timesAsFast(15, "patchbay-modern", "sdk-v2-modern", "the official SDK v2"),
      timesAsFast(12, "patchbay-legacy", "sdk-v1-sessions", "the official SDK v1, sessions"),
      timesAsFast(2.5, "patchbay-legacy", "mcp-lite-sessions", "mcp-lite, sessions"),
    ],
    contenders: [
      {
        name: "bare",
        title: "bare node:http",
        revision: MODERN,
        serve: ["servers/bare-http.mjs"],
        bare: true,
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
        name: "patchbay-sealed",
        title: "Patchbay, sealed sessions",
        revision: LEGACY,
        serve: ["servers/patchbay-http.mjs", "sealed"],
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
    measured: throughput(stdio(echo)),
    targets: [
      timesAsFast(0.9, "patchbay-modern", "bare", "of a bare readline loop"),
      timesAsFast(0.9, "patchbay-legacy", "bare", "of a bare readline loop, legacy"),
    ],
    contenders: [
      {
        name: "bare",
        title: "bare readline loop",
        revision: MODERN,
        serve: ["servers/bare-stdio.mjs"],
        bare: true,
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
