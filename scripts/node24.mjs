/** Fetches Node 24, so that the tests run on it next to the Node that runs this script. */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { runNpm } from "./install.mjs";
import { ROOT } from "./run.mjs";

const VERSION = "24.22.3";

/** The path of a Node 24, fetched once from npm; nothing when it could not be had. */
export async function node24(options = {}) {
  const windows = process.platform === "win32";
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const folder = join(ROOT, "node_modules", ".cache", `node-${VERSION}`);
  const binary = join(folder, "node_modules", name, "bin", windows ? "node.exe" : "node");
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const quietly = [
    "--no-save",
    "--no-package-lock",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  await runNpm(["install", "--prefix", folder, ...quietly, `${name}@${VERSION}`], {
    ...options,
    cwd: folder,
  });
  return existsSync(binary) ? binary : undefined;
}
