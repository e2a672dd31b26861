/** The official suite, as a program that is run once for each scenario. */

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const PACKAGE = fileURLToPath(new URL("node_modules/@modelcontextprotocol/conformance/", import.meta.url));
const COMMAND = join(PACKAGE, "dist", "index.js");

/** For the suite itself, which ends a scenario that takes longer. */
const SCENARIO_MS = 30_000;
/** For us, when it does not. */
const PATIENCE_MS = 60_000;

/** The suite, run by a Node that is new enough for it. */
export class Suite {
  #running = new Set();
  #results = mkdtempSync(join(tmpdir(), "patchbay-conformance-"));
  #node;
  #env;

  constructor(node, env) {
    this.#node = node;
    this.#env = env;
  }

  /** Its requirement sets, by revision. */
  requirementSets() {
    const folder = join(PACKAGE, "requirements");
    return readdirSync(folder)
      .filter((file) => file.endsWith(".yaml"))
      .sort()
      .map((file) => ({
        revision: file.slice(0, -".yaml".length),
        ...parse(readFileSync(join(folder, file), "utf8")),
      }));
  }

  /** What it says that it has. */
  async listing() {
    const { code, output } = await this.#spawn(["list"]);
    if (code !== 0) throw new Error(`The suite could not list its scenarios:\n${output}`);
    return output;
  }

  /**
   * Runs one scenario.
   *
   * @param {string[]} subject where the server is, or how the client is started, as options of the suite
   * @returns {Promise<{ checks?: object[], code: number, output: string }>} no checks when it came to no result
   */
  async run({ role, scenario, revision }, subject) {
    const folder = mkdtempSync(join(this.#results, `${scenario.replaceAll("/", "-")}-`));
    try {
      const at = revision === undefined ? [] : ["--spec-version", revision, "--force"];
      const limits = ["--timeout", String(SCENARIO_MS), "--output-dir", folder];
      const ended = await this.#spawn([role, ...subject, "--scenario", scenario, ...at, ...limits]);
      // A scenario with a slash in its name has a folder in a folder.
      const found = readdirSync(folder, { recursive: true }).find((file) => basename(file) === "checks.json");
      if (found === undefined) return ended;
      const read = (file) => readFileSync(join(folder, dirname(found), file), "utf8");
      const checks = JSON.parse(read("checks.json"));
      const said = role === "client" ? read("stderr.txt") : "";
      return { code: ended.code, checks, output: said || ended.output };
    } catch (thrown) {
      return { code: 1, output: `its result could not be read: ${thrown.message}` };
    }
  }

  /** Ends what runs, and leaves nothing behind. */
  close() {
    for (const child of this.#running) child.kill("SIGKILL");
    rmSync(this.#results, { recursive: true, force: true });
  }

  #spawn(args) {
    return new Promise((resolve) => {
      const child = spawn(this.#node, [COMMAND, ...args], {
        env: { ...process.env, ...this.#env, NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"],
      });
      this.#running.add(child);
      const patience = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
      let output = "";
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text) => {
          output = (output + text).slice(-1_000_000);
        });
      }
      const settle = (code) => {
        clearTimeout(patience);
        this.#running.delete(child);
        resolve({ code, output });
      };
      child.once("error", (error) => {
        output += error.message;
        settle(127);
      });
      child.once("close", (code) => settle(code ?? 1));
    });
  }
}
