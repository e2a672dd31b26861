/** Installs a folder's npm dependencies, development ones too, when they are not what its lockfile says. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/** True when npm's own list of what it installed holds everything that the lockfile asks for. */
export function isInstalled(folder) {
  const installed = packagesIn(join(folder, "node_modules", ".package-lock.json"));
  const wanted = packagesIn(join(folder, "package-lock.json"));
  if (installed === undefined || wanted === undefined) return false;
  return Object.entries(wanted).every(([place, { version, link, optional, devOptional }]) => {
    // Optional ones are those of other platforms.
    if (!place.includes("node_modules/") || optional || devOptional) return true;
    return installed[place] !== undefined && (link === true || installed[place].version === version);
  });
}

/** Installs if needed; gives whether all is there in the end. */
export async function install(folder, options = {}) {
  if (isInstalled(folder)) return true;
  const code = await runNpm(["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    ...options,
    cwd: folder,
  });
  return code === 0;
}

/** Runs the npm that runs us, or else the one on the path. */
export function runNpm(args, options) {
  const running = process.env.npm_execpath ?? "";
  if (/npm-cli\.c?js$/.test(running)) return run(process.execPath, [running, ...args], options);
  return process.platform === "win32"
    ? run("cmd.exe", ["/d", "/s", "/c", "npm", ...args], options)
    : run("npm", args, options);
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}
