/** Writes a document's blocks to files, compiles them against the workspace, and runs those that ask for it. */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { type Block, readBlocks } from "./markdown.ts";
import { matches } from "./output.ts";

export const ROOT = join(import.meta.dirname, "..", "..");
const MAX_RUN_MS = 60_000;

export interface Snippets {
  /** What the compiler, the JSON parser or the shell's parser has against the blocks: `document:line: what`. */
  problems: string[];
  /** The blocks to run, each with what it must print. */
  runs: Run[];
}

export interface Run {
  line: number;
  block: Block;
  /** The compiled file of a ts block. */
  script: string | undefined;
  expected: string | undefined;
}

/**
 * @param document its path from the root, for messages
 * @param folder where the blocks are written, inside the repository so that packages are found; emptied first
 * @throws Error for a mark or a language that is not known
 */
export function prepare(document: string, markdown: string, folder: string): Snippets {
  const blocks = readBlocks(document, markdown);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const problems: string[] = [];
  const runs: Run[] = [];
  const sources = new Set<string>();
  /** The ts file that is being written: its name, and its text so far. */
  let open = { name: "", text: "" };
  for (const [index, block] of blocks.entries()) {
    let script: string | undefined;
    if (block.language === "ts") {
      const text = block.continues ? open.text : "";
      const name = block.continues ? open.name : (block.file ?? `line-${block.line}.ts`);
      // Lines keep the number they have in the document.
      const gap = "\n".repeat(block.line - 1 - (text.split("\n").length - 1));
      open = { name, text: `${text}${gap}${block.text}\n` };
      writeFileSync(join(folder, name), open.text);
      sources.add(name);
      script = join(folder, name.replace(/\.ts$/, ".js"));
    } else if (block.file !== undefined) writeFileSync(join(folder, block.file), block.text);
    const wrong = misread(block);
    if (wrong !== undefined) problems.push(`${document}:${block.line}: ${wrong}`);
    if (block.run) {
      const next = blocks[index + 1];
      runs.push({ line: block.line, block, script, expected: next?.output ? next.text : undefined });
    }
  }
  problems.push(...compile(document, folder, sources));
  return { problems, runs };
}

function misread(block: Block): string | undefined {
  if (block.language === "json") {
    try {
      JSON.parse(block.text);
    } catch (thrown) {
      return (thrown as Error).message;
    }
  }
  if (block.language === "sh") {
    if (/^\s*\$ /m.test(block.text)) return "write commands without the `$ `, so that they can be copied";
    const { status, stderr } = spawnSync("bash", ["-n"], { input: block.text, encoding: "utf8" });
    if (status !== 0) return stderr.trim();
  }
  return undefined;
}

function compile(document: string, folder: string, sources: Set<string>): string[] {
  if (sources.size === 0) return [];
  const config = {
    extends: join(ROOT, "tsconfig.base.json"),
    compilerOptions: {
      composite: false,
      declaration: false,
      sourceMap: false,
      moduleDetection: "force",
      noUnusedLocals: false,
      rootDir: ".",
      outDir: ".",
    },
    files: [...sources],
  };
  const path = join(folder, "tsconfig.json");
  writeFileSync(path, JSON.stringify(config));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "-p", path, "--pretty", "false"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status === 0) return [];
  return stdout
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => line.replace(/^[\w./-]+\.ts\((\d+),\d+\)/, `${document}:$1`));
}

/** Runs a block; an error says what it printed when it failed, or printed something else than is shown. */
export async function execute(document: string, folder: string, run: Run): Promise<void> {
  const at = `${document}:${run.line}`;
  const command = run.script === undefined ? ["bash", "-c", run.block.text] : [process.execPath, run.script];
  const cwd = run.script !== undefined || run.block.folder === "files" ? folder : ROOT;
  const { status, printed } = await runToEnd(command, cwd, binaries());
  if (status !== 0) throw new Error(`${at}: ended with ${status}, and printed:\n${printed}`);
  if (run.expected !== undefined && !matches(run.expected, printed)) {
    throw new Error(`${at}: printed\n${printed}\nbut the document shows\n${run.expected}`);
  }
}

/** A folder with the `patchbay` of this workspace, for the PATH. */
function binaries(): string {
  const folder = join(ROOT, "docs", "dist", "bin");
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "patchbay");
  const main = join(ROOT, "packages", "cli", "dist", "main.js");
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(file, 0o755);
  return folder;
}

async function runToEnd(command: string[], cwd: string, bin: string) {
  // One pipe for both, so that what was printed keeps its order, as on a terminal.
  const shell = ["-c", 'exec "$@" 2>&1', "sh", ...command];
  const child = spawn("sh", shell, {
    cwd,
    env: documentedEnvironment(bin),
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const endAll = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // All have ended.
    }
  };
  const timer = setTimeout(endAll, MAX_RUN_MS);
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const status = await new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", endAll);
    child.once("close", (code, signal) => resolve(code ?? `${signal}`));
  });
  clearTimeout(timer);
  return { status, printed };
}

/** A reader's own configuration: nothing is in it at first. */
const CONFIGURATION = mkdtempSync(join(tmpdir(), "patchbay-docs-"));
process.once("exit", () => rmSync(CONFIGURATION, { recursive: true, force: true }));

/** What a reader has: the command, and neither a key, a local model, a configuration nor colour. */
function documentedEnvironment(bin: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
    NO_COLOR: "1",
    XDG_CONFIG_HOME: CONFIGURATION,
  };
  for (const name of Object.keys(env)) {
    const ofVitest = name.startsWith("VITEST") || name === "NODE_ENV" || name === "FORCE_COLOR";
    const ofNpm = name.startsWith("npm_");
    const ofModel = /API_KEY$|^MODEL$|^MODEL_PROVIDER$|^BASE_URL$/.test(name);
    if (ofVitest || ofNpm || ofModel) delete env[name];
  }
  // It is what a reader without a key gets, whatever listens on this machine.
  env.MODEL_PROVIDER = "rules";
  return env;
}

/** The documents whose blocks are checked. */
export function listDocuments(): string[] {
  const options = ["--cached", "--others", "--exclude-standard"];
  const listed = execFileSync("git", ["ls-files", ...options, "*.md"], { cwd: ROOT, encoding: "utf8" });
  return listed
    .split("\n")
    .filter((file) => file !== "" && !file.startsWith("bench/") && basename(file) !== "CHANGELOG.md")
    .sort();
}
