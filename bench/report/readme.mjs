/** The short tables in the project's README, between two comments that mark their place. */

import { readFileSync, writeFileSync } from "node:fs";
import { speedRatio } from "../measures/throughput.mjs";
import { bytes, milliseconds } from "./cells.mjs";

const BEGIN = "<!-- written by npm run bench -->";
const END = "<!-- until here -->";

/** Replaces what stands between the comments. @throws Error when they are not there */
export function writeReadme(file, report) {
  const text = readFileSync(file, "utf8");
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for the results: ${BEGIN} … ${END}`);
  const tables = readmeTables(report);
  writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n\n${tables}\n\n${text.slice(end)}`);
}

/** @param {{ results: import("./table.mjs").Result[] }} report */
function readmeTables({ results }) {
  const rowOf = (scenario, name) =>
    results
      .find((result) => result.name === scenario)
      ?.rows.find((row) => row.name === name && row.missing === undefined);
  const against = (scenario, name, other, waits) =>
    times(speedRatio(rowOf(scenario, name), rowOf(scenario, other), waits)?.value);
  const number = (scenario, name, key, show) => show(rowOf(scenario, name)?.[key]) ?? "–";

  const modern = (scenario, other) => against(scenario, "patchbay-modern", other);
  const legacy = (scenario, other) => against(scenario, "patchbay-legacy", other);
  const stream = legacy("echo-http", "mcp-lite");
  const json = legacy("echo-http", "mcp-lite-json");
  const peers = [
    ["bare Node, nothing of MCP", modern("echo-http", "bare"), modern("echo-stdio", "bare")],
    ["official SDK v1, sessions", legacy("echo-http", "sdk-v1-sessions"), legacy("echo-stdio", "sdk-v1")],
    [
      "official SDK v2, 2026-07-28",
      modern("echo-http", "sdk-v2-modern"),
      modern("echo-stdio", "sdk-v2-modern"),
    ],
    ["tmcp, 2026-07-28", modern("echo-http", "tmcp-modern"), modern("echo-stdio", "tmcp-modern")],
    ["mcp-lite", `${stream}, and ${json} when it sends JSON`, "–"],
  ];
  const more = [
    [
      "a call among 1,000 tools, against one with 1 tool",
      against("many-tools", "patchbay-modern-1000", "patchbay-modern-1"),
    ],
    ["`tools/list` of 100 tools, against bare Node writing the same bytes", modern("list", "bare")],
    [
      "an answer streamed with its progress, against bare Node streaming the same bytes",
      modern("progress", "bare"),
    ],
    ["the client over HTTP, against `undici` posting the same bytes", modern("client-http", "undici")],
    ["the client over HTTP, against the official SDK v2", modern("client-http", "sdk-v2-modern")],
    ["the client over stdio, against a bare driver", modern("client-stdio", "bare")],
    [
      "sessions in Redis, against sessions in memory",
      against("sessions", "patchbay-redis", "patchbay-memory", true),
    ],
    ["two workers on two cores, against one on one", number("workers", "patchbay-2", "deducted", times)],
    [
      "start to first answer on stdio, above `node -e 0`",
      number("start", "patchbay-zod", "above", milliseconds),
    ],
    ["an idle session in memory", number("memory", "patchbay-memory", "idle", bytes)],
    [
      "its open stream, above a stream of bare Node",
      number("memory", "patchbay-memory", "streamAbove", bytes),
    ],
  ];
  return `${table(["against", "Streamable HTTP", "stdio"], peers)}\n\n${table(["and", ""], more)}`;
}

function times(value) {
  return value === undefined ? "–" : `${value.toFixed(value < 1 ? 2 : value < 10 ? 1 : 0)}×`;
}

/** Padded, as the formatter would have it. */
function table(heads, rows) {
  const widths = heads.map((head, i) => Math.max(3, head.length, ...rows.map((row) => row[i].length)));
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  const dashes = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [line(heads), dashes, ...rows.map(line)].join("\n");
}
