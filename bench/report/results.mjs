/** RESULTS.md, whole: what was to be reached first, then each table, then how it was measured. */

import { markdownTable } from "./table.mjs";

/** @param {{ results: import("./table.mjs").Result[] }} report */
function targetsTable({ results }) {
  const rows = results.flatMap(({ title, verdicts }) =>
    verdicts.map(({ what, target, measured = "–", by, reached }) => [
      title,
      what,
      target,
      measured + (by === "CPU time" ? " (CPU time)" : ""),
      reached === undefined ? "not measured" : reached ? "reached" : "**missed**",
    ]),
  );
  const heads = ["", "", "target", "measured", ""];
  return [heads, ["---", "---", "---:", "---:", "---"], ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

export function resultsFile(report) {
  const { date, machine, plan, versions, results } = report;
  return `# Benchmark results

Written by \`npm run bench\` on ${date}. Absolute numbers are this machine's; the ratios are what to compare.

- Node ${machine.node}; ${machine.cpu}; ${machine.pinning}; load average at the start ${machine.loadAverage}
- peers: ${versions.join(", ")}
- ${plan.rounds} rounds of ${plan.ms / 1000} s for each contender, interleaved, after ${plan.warmUpMs / 1000} s of warm-up; medians

## Targets

${targetsTable(report)}

${results.map(markdownTable).join("\n")}
${METHOD}`;
}

const METHOD = `## Method

Each contender is a process of its own, on its own core, with \`NODE_ENV=production\`, served as its documentation
recommends. All have the same tools, by default one, \`echo({ text: string })\`, its input validated by Zod. The load keeps
64 calls open: over HTTP on 64 keep-alive connections, each with a session of its own where there are sessions; over stdio
on one pipe. Each call has a text of its own, and each answer is checked to be that text, with that id: the first is parsed,
and the others are compared with it byte by byte, but for the number.

- **calls/s**: answered within the round. **±**: half of the range over the rounds.
- **of bare**: calls/s against bare Node doing the same JSON and nothing of MCP.
- **ours is**: how many times as many calls/s Patchbay answers, asked in the same era.
- **CPU µs/call**: CPU time that the measured process used for one call; other load on the machine changes it less.
- **CPU of bare**: that of bare Node as a share of it.
- **busy**: share of the time in which the measured process was on its core. Well below 100 %, something else was the limit.

Ratios are taken round by round, and the median of them is shown. A target is judged by calls/s; by CPU time where one of the
two was not busy. The official SDK answers in JSON here, the faster of its modes, but where it reports progress; v2's
stateless answers to legacy clients are event streams, and cannot be anything else. mcp-lite answers a client that accepts
what the specification says with an event stream, and one that accepts only JSON with JSON: both are shown. tmcp always
answers with an event stream.
`;
