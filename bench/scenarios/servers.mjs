/** The servers that come with Patchbay, against those that do the same: the same tasks over stdio. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stdio } from "../drivers/stdio.mjs";
import { throughput } from "../measures/throughput.mjs";
import { LEGACY, MODERN } from "../messages.mjs";
import { timesAsFast } from "../targets.mjs";

/** What is read and listed is what lies here. */
const FOLDER = join(import.meta.dirname, "..");
const FILE = join(FOLDER, "closed-loop.mjs");
const LISTED = join(FOLDER, "servers");
const TEXT = readFileSync(FILE, "utf8");
const NAMES = readdirSync(LISTED);

/** @returns {import("../messages.mjs").Call} */
function callOf(name, args, isRight) {
  return {
    method: "tools/call",
    name,
    params: () => ({ name, arguments: args }),
    isRight: (result) => result?.isError !== true && isRight(result?.content?.[0]?.text ?? ""),
  };
}

const hasTheText = (text) => text === TEXT;
const hasTheNames = (text) => NAMES.every((name) => text.includes(name));

const read = callOf("read_file", { path: FILE }, hasTheText);
const list = callOf("list_directory", { path: LISTED }, hasTheNames);

/** Twenty rows of a table that the query makes: it is answered by whatever is read from no file. */
const EMPTY = join(LISTED, "empty.sqlite");
const NUMBERS = JSON.stringify(Array.from({ length: 20 }, (_, index) => index + 1));
const ROWS = `SELECT value AS number, 'item ' || value AS item FROM json_each('${NUMBERS}')`;
const hasTheRows = (text) => text.includes("item 1") && text.includes("item 20");

const ours = {
  name: "patchbay",
  title: "Patchbay",
  serve: ["servers/patchbay-files-stdio.mjs", FOLDER],
  ours: true,
};
const filesystem = {
  name: "server-filesystem",
  title: "@modelcontextprotocol/server-filesystem",
  revision: LEGACY,
  serve: ["node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", FOLDER],
};

const ourDatabase = { ...ours, serve: ["servers/patchbay-database-stdio.mjs", EMPTY] };

/** Ours in both eras. */
const inBothEras = (call, contender = ours) => [
  { ...contender, name: "patchbay-modern", revision: MODERN, call },
  { ...contender, name: "patchbay-legacy", revision: LEGACY, call },
];

/** @type {import("../scenarios.mjs").Scenario[]} */
export const servers = [
  {
    name: "files-read",
    title: "The text of a file of some kilobytes, stdio, 64 in flight",
    measured: throughput(stdio()),
    targets: [timesAsFast(1.2, "patchbay-legacy", "server-filesystem", "the reference server")],
    contenders: [
      ...inBothEras(read),
      { ...filesystem, call: callOf("read_text_file", { path: FILE }, hasTheText) },
    ],
  },
  {
    name: "files-list",
    title: "A folder of some tens of files with their sizes, stdio, 64 in flight",
    measured: throughput(stdio()),
    targets: [timesAsFast(1.2, "patchbay-legacy", "server-filesystem-sizes", "the reference server")],
    contenders: [
      ...inBothEras(list),
      {
        ...filesystem,
        name: "server-filesystem-sizes",
        call: callOf("list_directory_with_sizes", { path: LISTED }, hasTheNames),
      },
      {
        ...filesystem,
        name: "server-filesystem-names",
        title: "@modelcontextprotocol/server-filesystem, names alone",
        call: callOf("list_directory", { path: LISTED }, hasTheNames),
      },
    ],
  },
  {
    name: "database-read",
    title: "A query of 20 rows in SQLite, stdio, 64 in flight",
    measured: throughput(stdio()),
    targets: [],
    contenders: [
      ...inBothEras(callOf("query", { sql: ROWS }, hasTheRows), ourDatabase),
      {
        name: "mcp-server-sqlite-npx",
        title: "mcp-server-sqlite-npx",
        revision: LEGACY,
        serve: ["node_modules/mcp-server-sqlite-npx/dist/index.js", EMPTY],
        call: callOf("read_query", { query: ROWS }, hasTheRows),
      },
    ],
  },
];
