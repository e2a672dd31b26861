/** The servers that come with Patchbay, against those that do the same: the same tasks over stdio. */

import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
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

/** An article of some kilobytes, on a site of its own. */
const ARTICLE = `<!doctype html><html lang="en"><head><title>Tides</title></head><body><nav><a href="/">Home</a></nav><article><h1>Tides</h1>${Array.from(
  { length: 40 },
  (_, index) =>
    `<p>Paragraph ${index + 1}: the sea comes and goes <em>twice</em> a day, as the moon <a href="/moon">does</a>.</p>`,
).join("")}</article><footer>Imprint</footer></body></html>`;
const hasTheArticle = (text) => text.includes("Paragraph 1:") && text.includes("Paragraph 40:");

/** Where the site is, while it is there. */
let site = "";

/** The same, with the site there meanwhile. */
function besideTheSite(measured) {
  return {
    ...measured,
    async measure(...given) {
      const server = createServer((_request, response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(ARTICLE);
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      site = `127.0.0.1:${server.address().port}`;
      try {
        return await measured.measure(...given);
      } finally {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}

/** A call about a page that is known when it is made. */
const fetchOf = (name, urlOf) => ({
  ...callOf(name, {}, hasTheArticle),
  params: () => ({ name, arguments: { url: urlOf(site) } }),
});

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
  {
    name: "web-fetch",
    title: "An article as Markdown from a site on this machine, stdio, 8 in flight",
    measured: besideTheSite(throughput((contender, plan) => stdio()(contender, { ...plan, concurrency: 8 }))),
    targets: [],
    contenders: [
      ...inBothEras(
        fetchOf("web_fetch", (host) => `http://${host}/article`),
        {
          ...ours,
          serve: ["servers/patchbay-web-stdio.mjs", "127.0.0.1"],
        },
      ),
      {
        name: "mcp-fetch-server",
        title: "mcp-fetch-server",
        revision: LEGACY,
        serve: ["node_modules/mcp-fetch-server/dist/index.js"],
        // It refuses 127.0.0.1, and takes the same in this spelling.
        call: fetchOf(
          "fetch_readable",
          (host) => `http://${host.replace("127.0.0.1", "[::ffff:127.0.0.1]")}/article`,
        ),
      },
    ],
  },
];
