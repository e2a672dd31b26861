/** The results as a table: for the terminal, and for RESULTS.md. */

const COLUMNS = [
  "",
  "revision",
  "calls/s",
  "±",
  "of bare",
  "ours is",
  "p50 ms",
  "p99 ms",
  "CPU µs/call",
  "busy",
];

/** Below this, something else than the server was what limited the run. */
const BUSY_ENOUGH = 0.85;

/** @param {import("./measure.mjs").Row[]} rows */
function cellsOf(rows) {
  return rows.map((row) => {
    const revision = row.revision ?? "";
    if (row.missing) return [row.title, revision, "–", ...Array(COLUMNS.length - 3).fill("")];
    return [
      row.title,
      revision,
      Math.round(row.perSecond).toLocaleString("en"),
      percent(row.spread),
      row.ofBare === undefined ? "" : percent(row.ofBare),
      row.oursOver === undefined ? "" : `${row.oursOver.toFixed(row.oursOver < 10 ? 1 : 0)}×`,
      row.p50.toFixed(2),
      row.p99.toFixed(2),
      row.cpuMicros === undefined ? "" : row.cpuMicros.toFixed(1),
      row.serverBusy === undefined ? "" : percent(row.serverBusy),
    ];
  });
}

const percent = (share) => `${Math.round(share * 100)} %`;

/** What is shown as "–", and why; and whether the numbers are the servers' own. */
function notesOn(rows) {
  const notes = rows
    .filter((row) => row.missing)
    .map((row) => `– ${row.title}${row.revision ? ` (${row.revision})` : ""}: ${row.missing}`);
  const held = rows.filter((row) => row.serverBusy < BUSY_ENOUGH);
  if (held.length > 0) {
    notes.push(
      `${held.length} of ${rows.length} had their core for less than ${percent(BUSY_ENOUGH)} of the time: the machine did ` +
        "other work, or the load was the limit. Their calls/s is too low; CPU µs/call tells more.",
    );
  }
  return notes;
}

/** @param {{ title: string, rows: import("./measure.mjs").Row[] }} result */
export function plainTable({ title, rows }) {
  const cells = cellsOf(rows);
  const widths = COLUMNS.map((column, i) => Math.max(column.length, ...cells.map((line) => line[i].length)));
  const line = (texts) =>
    texts
      .map((text, i) => (i < 2 ? text.padEnd(widths[i]) : text.padStart(widths[i])))
      .join("  ")
      .trimEnd();
  return [title, "", line(COLUMNS), ...cells.map(line), ...notesOn(rows), ""].join("\n");
}

function markdownTable({ title, rows }) {
  const line = (texts) => `| ${texts.join(" | ")} |`;
  const dashes = COLUMNS.map((_, i) => (i < 2 ? "---" : "---:"));
  const cells = cellsOf(rows).map((texts, i) =>
    rows[i].ours ? texts.map((text) => (text ? `**${text}**` : "")) : texts,
  );
  const notes = notesOn(rows).map((note) => `- ${note}`);
  return [
    `## ${title}`,
    "",
    line(COLUMNS),
    line(dashes),
    ...cells.map(line),
    ...(notes.length ? ["", ...notes] : []),
    "",
  ].join("\n");
}

/** RESULTS.md, whole. */
export function markdownReport({ date, machine, plan, versions, results }) {
  return `# Benchmark results

Written by \`npm run bench\` on ${date}. Absolute numbers are this machine's; the ratios are what to compare.

- Node ${machine.node}; ${machine.cpu}; ${machine.pinning}; load average at the start ${machine.loadAverage}
- peers: ${versions.join(", ")}
- ${plan.rounds} rounds of ${plan.ms / 1000} s for each contender, interleaved, after ${plan.warmUpMs / 1000} s of warm-up; medians

${results.map(markdownTable).join("\n")}
## Method

Each contender is a process of its own, on its own core, with \`NODE_ENV=production\`, served as its documentation
recommends. All have the same tool, \`echo({ text: string })\`, its input validated by Zod. The load keeps 64 calls open: over
HTTP on 64 keep-alive connections, each with a session of its own where there are sessions; over stdio on one pipe. Each call
has a text of its own, and each answer is checked to be that text, with that id.

- **calls/s**: answered within the round. **±**: half of the range over the rounds.
- **of bare**: calls/s against bare Node doing the same JSON and nothing of MCP.
- **ours is**: how many times as many calls/s Patchbay answers, asked in the same era.
- **CPU µs/call**: CPU time that the server's process used for one call; other load on the machine changes it less.
- **busy**: share of the time in which the server was on its core. Well below 100 %, something else was the limit.

Ratios are taken round by round, and the median of them is shown. The official SDK answers in JSON here, the faster of its
modes; only v2's stateless answers to legacy clients are event streams, and cannot be anything else. mcp-lite answers a client
that accepts what the specification says with an event stream, and one that accepts only JSON with JSON: both are shown. tmcp
always answers with an event stream.
`;
}
