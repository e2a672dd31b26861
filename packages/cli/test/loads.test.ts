/** What a start loads, and what it leaves alone: the time that a start takes is the time that loading takes. */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 60_000 });

const HERE = fileURLToPath(new URL(".", import.meta.url));
const MAIN = join(HERE, "../dist/main.js");
const folder = mkdtempSync(join(tmpdir(), "patchbay-loads-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What gives a library away, in whichever file the bundler put it. */
const MARKS = {
  ajv: "can't resolve reference",
  undici: "UND_ERR_CONNECT_TIMEOUT",
  zod: "invalid_union",
  LangChain: "lc_serializable",
  LangGraph: "GRAPH_RECURSION_LIMIT",
  Readability: "readability-page-",
  "the OpenAI package": "OpenAI-Organization",
  "the Anthropic package": "anthropic-version",
};

let runs = 0;

/** Runs Node; gives the packages (`client`, `core`, …) and the libraries that it loaded. */
async function loaded(args: string[]): Promise<string[]> {
  const file = join(folder, `loads-${runs++}`);
  const preload = pathToFileURL(join(HERE, "fixtures/loads.mjs")).href;
  await new Promise<void>((resolve) => {
    // How it ends is not asked here.
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      MODEL_PROVIDER: "rules",
      LOADS: file,
    };
    const child = execFile(process.execPath, ["--import", preload, ...args], { cwd: HERE, env }, () =>
      resolve(),
    );
    child.stdin?.end();
  });
  const files = [...new Set(readFileSync(file, "utf8").trim().split("\n"))].map((url) => fileURLToPath(url));
  const packages = files.flatMap((path) => /packages[\\/](\w+)[\\/]dist/.exec(path)?.[1] ?? []);
  const texts = files.map((path) => readFileSync(path, "utf8"));
  const libraries = Object.entries(MARKS).flatMap(([library, mark]) =>
    texts.some((text) => text.includes(mark)) ? [library] : [],
  );
  return [...new Set([...packages, ...libraries])].sort();
}

const code = (text: string) => ["--input-type=module", "--eval", text];
const CALCULATOR = JSON.stringify({ command: process.execPath, args: [MAIN, "serve", "calculator"] });

test("help loads nothing but the command", async () => {
  // Of core, what makes text safe to show.
  expect(await loaded([MAIN, "--help"])).toEqual(["cli", "core"]);
});

test("a server over stdio loads no HTTP and no compiler of schemas", async () => {
  const server = 'import "@patchbay/server"; import "@patchbay/server/stdio";';
  expect(await loaded(code(server))).toEqual(["core", "server"]);
  expect(await loaded([MAIN, "serve", "calculator"])).toEqual(["cli", "core", "server", "servers", "zod"]);
  expect(await loaded([MAIN, "serve", "weather"])).toEqual(["cli", "core", "server", "servers", "zod"]);
  expect(await loaded([MAIN, "serve", "web"])).toEqual(["cli", "core", "server", "servers", "zod"]);
});

test("a client over stdio loads no HTTP", async () => {
  const list = `
    import { connect } from "@patchbay/client";
    const client = await connect(${CALCULATOR});
    await client.listTools();
    await client.close();`;
  expect(await loaded(code(list))).toEqual(["client", "core"]);
});

test("what was left alone is loaded when it is wanted", async () => {
  const check = 'import { compileSchema } from "@patchbay/core/schema"; compileSchema({});';
  expect(await loaded(code(check))).toEqual(["ajv", "core"]);
  const reach =
    'import { connect } from "@patchbay/client"; await connect("http://127.0.0.1:1").catch(() => {});';
  expect(await loaded(code(reach))).toEqual(["client", "core", "undici"]);
});

test("a call over stdio loads no host", async () => {
  const words = ["call", "calculator", "add", "a=1", "b=2"];
  // The compiler checks the result by the tool's output schema.
  expect(await loaded([MAIN, ...words])).toEqual(["ajv", "cli", "client", "core", "servers"]);
});

test("a question to the rule planner loads no model's package", async () => {
  const words = ["ask", "1+1", "--server", "calculator"];
  const found = await loaded([MAIN, ...words]);
  expect(found).toContain("LangGraph");
  expect(found).not.toContain("the OpenAI package");
  expect(found).not.toContain("the Anthropic package");
  expect(found).not.toContain("undici");
});

test("function calling without the loop loads neither LangChain nor a model's package", async () => {
  const call = `
    import { connect } from "@patchbay/client";
    import { openToolbox } from "@patchbay/host/tools";
    const calculator = await connect(${CALCULATOR});
    const toolbox = await openToolbox({ clients: { calculator }, format: "anthropic" });
    await toolbox.call({ id: "1", name: "add", args: { a: 1, b: 2 } });
    await calculator.close();`;
  expect(await loaded(code(call))).toEqual(["ajv", "client", "core", "host"]);
});
