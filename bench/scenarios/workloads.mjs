/** Other work than one small call: many tools, a long list, an answer that is a stream. Streamable HTTP all of it. */

import { http } from "../drivers/http.mjs";
import { throughput } from "../measures/throughput.mjs";
import { echo, LEGACY, listTools, MODERN, reportingEcho } from "../messages.mjs";
import { timesAsFast } from "../targets.mjs";

const ours = {
  name: "patchbay-modern",
  title: "Patchbay",
  revision: MODERN,
  serve: ["servers/patchbay-http.mjs"],
  ours: true,
};
const sdkV1 = {
  name: "sdk-v1-sessions",
  title: "official SDK v1, sessions",
  revision: LEGACY,
  serve: ["servers/sdk-v1-http.mjs", "sessions"],
};
const sdkV2 = {
  name: "sdk-v2-modern",
  title: "official SDK v2",
  revision: MODERN,
  serve: ["servers/sdk-v2-http.mjs"],
};
const mcpLite = {
  name: "mcp-lite",
  title: "mcp-lite, stateless",
  revision: "2025-06-18",
  serve: ["servers/mcp-lite-http.mjs", "stateless"],
};
const tmcp = { name: "tmcp-modern", title: "tmcp", revision: MODERN, serve: ["servers/tmcp-http.mjs"] };

/** With 1 tool, and with 1,000: the first is the floor of the second. */
const oneAndThousand = (contender) => [
  { ...contender, name: `${contender.name}-1`, title: `${contender.title}, 1 tool` },
  {
    ...contender,
    name: `${contender.name}-1000`,
    title: `${contender.title}, 1,000 tools`,
    workload: "1000-tools",
  },
];

/** @type {import("../scenarios.mjs").Scenario[]} */
export const workloads = [
  {
    name: "many-tools",
    title: "tools/call echo among 1,000 tools, Streamable HTTP, 64 connections",
    measured: throughput(http(echo)),
    targets: [timesAsFast(0.97, "patchbay-modern-1000", "patchbay-modern-1", "of a call with 1 tool")],
    contenders: [ours, mcpLite, tmcp, sdkV1, sdkV2].flatMap(oneAndThousand),
  },
  {
    name: "list",
    title: "tools/list of 100 tools, Streamable HTTP, 64 connections",
    measured: throughput(http(listTools), { sameBytes: true }),
    targets: [timesAsFast(0.95, "patchbay-modern", "bare", "of bare node:http writing the same bytes")],
    contenders: [
      {
        name: "bare",
        title: "bare node:http",
        bare: true,
        floor: true,
        serve: ["servers/bare-same-http.mjs", "list"],
      },
      ours,
      mcpLite,
      tmcp,
      sdkV1,
      sdkV2,
    ].map((contender) => ({ revision: MODERN, workload: "100-tools", ...contender })),
  },
  {
    name: "progress",
    title: "tools/call answered by a stream of one progress notification and the result, 64 connections",
    measured: throughput(http(reportingEcho), { sameBytes: true }),
    targets: [timesAsFast(0.85, "patchbay-modern", "bare", "of bare node:http streaming the same bytes")],
    contenders: [
      {
        name: "bare",
        title: "bare node:http",
        bare: true,
        floor: true,
        serve: ["servers/bare-same-http.mjs", "progress"],
      },
      ours,
      mcpLite,
      tmcp,
      sdkV2,
    ].map((contender) => ({ revision: MODERN, workload: "progress", ...contender })),
  },
];
