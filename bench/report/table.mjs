/** A scenario's results as a table: for the terminal, and in Markdown. */

/** @typedef {{ name: string, title: string, columns: any[], rows: any[], notes: string[], verdicts: import("../targets.mjs").Verdict[] }} Result */

const HEADS = ["", "revision"];

/** @param {Result} result */
function cellsOf({ columns, rows }) {
  return rows.map((row) => {
    const first = [row.title, row.revision ?? ""];
    if (row.missing !== undefined) return [...first, "–", ...columns.slice(1).map(() => "")];
    return [...first, ...columns.map(({ cell }) => cell(row) ?? "")];
  });
}

/** What is shown as "–", and why; and what else is to be known. */
function notesOn({ rows, notes }) {
  const missing = rows
    .filter((row) => row.missing !== undefined)
    .map((row) => `– ${row.title}${row.revision ? ` (${row.revision})` : ""}: ${row.missing}`);
  return [...missing, ...notes];
}

/** @param {import("../targets.mjs").Verdict} verdict */
export function verdictText({ what, target, measured, by, reached }) {
  if (measured === undefined) return `${what}: target ${target}, not measured`;
  return `${what}: ${measured}${by === "CPU time" ? " by CPU time" : ""}, target ${target}: ${reached ? "reached" : "missed"}`;
}

/** @param {Result} result */
export function plainTable(result) {
  const { title, columns, verdicts } = result;
  const heads = [...HEADS, ...columns.map(({ head }) => head)];
  const cells = cellsOf(result);
  const widths = heads.map((head, i) => Math.max(head.length, ...cells.map((line) => line[i].length)));
  const line = (texts) =>
    texts
      .map((text, i) => (i < HEADS.length ? text.padEnd(widths[i]) : text.padStart(widths[i])))
      .join("  ")
      .trimEnd();
  const below = [...notesOn(result), ...verdicts.map(verdictText)];
  return [title, "", line(heads), ...cells.map(line), ...below, ""].join("\n");
}

/** @param {Result} result */
export function markdownTable(result) {
  const { title, columns, rows, verdicts } = result;
  const line = (texts) => `| ${texts.join(" | ")} |`;
  const heads = [...HEADS, ...columns.map(({ head }) => head)];
  const dashes = heads.map((_, i) => (i < HEADS.length ? "---" : "---:"));
  const bold = (texts) => texts.map((text) => (text ? `**${text}**` : ""));
  const cells = cellsOf(result).map((texts, i) => (rows[i].ours ? bold(texts) : texts));
  const below = [...notesOn(result), ...verdicts.map(verdictText)].map((note) => `- ${note}`);
  return [
    `## ${title}`,
    "",
    line(heads),
    line(dashes),
    ...cells.map(line),
    ...(below.length ? ["", ...below] : []),
    "",
  ].join("\n");
}
