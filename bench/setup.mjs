/** What must be there before anything can be measured: our packages built, our peers installed. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const root = join(here, "..");
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const peers = Object.entries(readJson(join(here, "package.json")).dependencies);

function run(command, args, cwd) {
  const shell = process.platform === "win32"; // npm is a .cmd there
  execFileSync(command, args, { cwd, shell, stdio: ["ignore", process.stderr, process.stderr] });
}

/** The peers' installed version; undefined if there is none. */
function installed(name) {
  const path = join(here, "node_modules", name, "package.json");
  return existsSync(path) ? readJson(path).version : undefined;
}

/** Installs what is missing, builds what is stale. @param {(progress: string) => void} tell */
export function setUp(tell) {
  if (!existsSync(join(root, "node_modules", "typescript"))) {
    tell("installing the workspace");
    run("npm", ["ci"], root);
  }
  if (peers.some(([name, version]) => installed(name) !== version)) {
    tell("installing the peers");
    run("npm", ["ci"], here);
  }
  tell("building the workspace");
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-b", "packages/server"], root);
}

/** Those that are measured, with their versions. */
export function peerVersions() {
  const plumbing = new Set(["zod", "hono", "srvx", "@hono/node-server"]);
  return peers.filter(([name]) => !plumbing.has(name)).map(([name, version]) => `${name} ${version}`);
}
