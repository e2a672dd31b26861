/** What must be there before anything can be measured: our packages built, our peers installed. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;
const root = join(here, "..");
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
const peers = Object.entries(readJson(join(here, "package.json")).dependencies);

/** A step of the setup that failed; what went wrong is on stderr already. */
export class SetupError extends Error {}

function run(what, command, args, cwd) {
  const shell = process.platform === "win32"; // npm is a .cmd there
  try {
    execFileSync(command, args, { cwd, shell, stdio: ["ignore", process.stderr, process.stderr] });
  } catch {
    throw new SetupError(`${what} failed; see above`);
  }
}

/** The peers' installed version; undefined if there is none. */
function installed(name) {
  const path = join(here, "node_modules", name, "package.json");
  return existsSync(path) ? readJson(path).version : undefined;
}

/**
 * Installs what is missing, builds what is stale.
 *
 * @param {(progress: string) => void} tell
 * @throws SetupError
 */
export function setUp(tell) {
  const step = (what, ...command) => {
    tell(what);
    run(what, ...command);
  };
  if (!existsSync(join(root, "node_modules", "typescript")))
    step("installing the workspace", "npm", ["ci"], root);
  if (peers.some(([name, version]) => installed(name) !== version))
    step("installing the peers", "npm", ["ci"], here);
  step("building the workspace", process.execPath, [join(root, "scripts", "build.mjs")], root);
}

/** Those that are measured, with their versions. */
export function peerVersions() {
  const plumbing = new Set(["zod", "hono", "srvx", "undici", "@hono/node-server"]);
  return peers.filter(([name]) => !plumbing.has(name)).map(([name, version]) => `${name} ${version}`);
}
