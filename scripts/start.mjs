/** `npm start`: installs and builds when something changed, then runs the command. Plain Node, no dependency. */

import "./node-version.mjs";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import nodeModule from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(ROOT, ...parts);
/** Goes with node_modules: whoever removes that folder removes the stamp. */
const INSTALL_STAMP = at("node_modules", ".patchbay-install");
/** Goes with the build's own output. */
const BUILD_STAMP = at("packages", "cli", "dist", ".built");
const LOCK = at("packages", "cli", "dist", ".start-lock");
/** A holder renews its lock this often; one that has not for ten times as long is gone. */
const RENEW_MS = 2_000;

/** Besides the packages' own files, what decides how the build comes out. */
const BUILT_BY = ["tsconfig.json", "tsconfig.base.json", "scripts/build.mjs", "scripts/bundle.mjs"];

/** Where the system has process groups, a step has one of its own. */
const GROUPS = process.platform !== "win32";
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

try {
  if (!isInstalled() || !isBuilt()) await withLock(prepare);
} catch (thrown) {
  console.error(`error: ${thrown.message}`);
  process.exit(1);
}
// Since Node 22 what was compiled is kept for the next start.
nodeModule.enableCompileCache?.();
const { main } = await import(pathToFileURL(at("packages", "cli", "dist", "index.js")).href);
const words = process.argv.slice(2);
await main(words.length > 0 ? ["ask", ...words] : ["chat"]);

/** Under the lock: what another start did meanwhile is seen, and not done twice. */
async function prepare(lock) {
  if (!isInstalled()) {
    console.error("Installing the dependencies (only now, and when they change) …");
    // Whoever has the development dependencies keeps them.
    const omit = hasDevelopmentDependencies() ? [] : ["--omit=dev"];
    const [command, args] = npm(["ci", ...omit, "--no-audit", "--no-fund"]);
    await runStep(
      lock,
      command,
      args,
      "The installation failed. Look at npm's message above, then start again.",
    );
    write(INSTALL_STAMP, lockfileDigest());
  }
  if (!isBuilt()) {
    console.error("Building …");
    const digest = sourceDigest();
    const build = at("scripts", "build.mjs");
    await runStep(lock, process.execPath, [build], "The build failed. Look at its message above.");
    write(BUILD_STAMP, digest);
  }
}

/** True when node_modules is what package-lock.json says, whoever installed it. */
function isInstalled() {
  const digest = lockfileDigest();
  if (read(INSTALL_STAMP) === digest) return true;
  // npm leaves a list of what it installed, once it is done.
  const installed = readPackages(at("node_modules", ".package-lock.json"));
  if (installed === undefined) return false;
  const wanted = readPackages(at("package-lock.json")) ?? {};
  for (const [place, { version, link, dev, optional, devOptional }] of Object.entries(wanted)) {
    if (!place.includes("node_modules/") || dev || optional || devOptional) continue;
    if (!link && installed[place]?.version !== version) return false;
    if (link && installed[place] === undefined) return false;
  }
  write(INSTALL_STAMP, digest);
  return true;
}

function hasDevelopmentDependencies() {
  return Object.values(readPackages(at("node_modules", ".package-lock.json")) ?? {}).some(({ dev }) => dev);
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function lockfileDigest() {
  return createHash("sha256")
    .update(readFileSync(at("package-lock.json")))
    .digest("hex");
}

function isBuilt() {
  return read(BUILD_STAMP) === sourceDigest() && hasOutput();
}

function hasOutput() {
  return packages().every((name) => existsSync(at("packages", name, "dist", "index.js")));
}

/** Name, size and time of everything the build reads: cheap, and different after any edit. */
function sourceDigest() {
  const hash = createHash("sha256");
  const add = (...parts) => {
    const { size, mtimeMs } = statSync(at(...parts));
    hash.update(`${parts.join("/")} ${size} ${mtimeMs}\n`);
  };
  for (const file of BUILT_BY) add(...file.split("/"));
  hash.update(lockfileDigest());
  for (const name of packages()) {
    add("packages", name, "package.json");
    add("packages", name, "tsconfig.json");
    const sources = readdirSync(at("packages", name, "src"), { recursive: true }).filter((file) =>
      file.endsWith(".ts"),
    );
    for (const file of sources.sort()) add("packages", name, "src", file);
  }
  return hash.digest("hex");
}

function packages() {
  return readdirSync(at("packages"))
    .filter((name) => existsSync(at("packages", name, "tsconfig.json")))
    .sort();
}

/** The npm that runs us, or else the one on the path. */
function npm(args) {
  const running = process.env.npm_execpath ?? "";
  if (/npm-cli\.c?js$/.test(running)) return [process.execPath, [running, ...args]];
  return process.platform === "win32" ? ["cmd.exe", ["/d", "/s", "/c", "npm", ...args]] : ["npm", args];
}

/** Runs a child to its end, its output on our stderr. */
async function runStep(lock, command, args, failure) {
  const child = spawn(command, args, { cwd: ROOT, stdio: ["ignore", 2, 2], detached: GROUPS });
  if (child.pid !== undefined) lock.holdFor(child.pid);
  const code = await new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`${failure} (${command}: ${error.message})`)));
    child.once("exit", resolve);
  });
  lock.checkInterrupted();
  if (code !== 0) throw new Error(failure);
}

/** One start at a time installs and builds; the others wait. A lock whose holder is gone is taken over. */
async function withLock(work) {
  mkdirSync(dirname(LOCK), { recursive: true });
  let told = false;
  while (!create(LOCK)) {
    if (isAbandoned()) {
      takeOver();
      continue;
    }
    if (!told) console.error("Another start is installing or building; waiting for it …");
    told = true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  let child;
  let interrupted;
  const lock = {
    holdFor(pid) {
      child = pid;
      writeFileSync(LOCK, `${process.pid} ${pid}`);
    },
    checkInterrupted() {
      child = undefined;
      if (interrupted === undefined) return;
      rmSync(LOCK, { force: true });
      process.exit(EXIT_CODES[interrupted]);
    },
  };
  // The child is ended first, and waited for: nothing may write after the lock is free.
  const stop = (signal) => {
    interrupted = signal;
    if (child === undefined) lock.checkInterrupted();
    else if (isAlive(child)) signalAll(child, signal);
  };
  for (const signal of Object.keys(EXIT_CODES)) process.on(signal, stop);
  const renew = setInterval(() => touch(LOCK), RENEW_MS);
  try {
    await work(lock);
  } finally {
    clearInterval(renew);
    for (const signal of Object.keys(EXIT_CODES)) process.off(signal, stop);
    rmSync(LOCK, { force: true });
  }
}

function create(file) {
  try {
    const descriptor = openSync(file, "wx");
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
    return true;
  } catch (thrown) {
    if (thrown.code === "EEXIST") return false;
    throw thrown;
  }
}

/** True when neither the holder nor the child it started lives, or when it has not renewed its lock. */
function isAbandoned() {
  let age;
  try {
    age = Date.now() - statSync(LOCK).mtimeMs;
  } catch {
    return false;
  }
  if (age > 10 * RENEW_MS) return true;
  // An empty file is one that is being written this moment.
  const holders = (read(LOCK) ?? "").split(" ").filter(Boolean).map(Number);
  return holders.length > 0 && !holders.some(isAlive);
}

/** Removes an abandoned lock. Of several that found it so, one does, and looks again before it does. */
function takeOver() {
  const guard = `${LOCK}-takeover`;
  if (!create(guard)) {
    try {
      if (Date.now() - statSync(guard).mtimeMs > 10 * RENEW_MS) rmSync(guard, { force: true });
    } catch {}
    return;
  }
  try {
    if (isAbandoned()) rmSync(LOCK, { force: true });
  } finally {
    rmSync(guard, { force: true });
  }
}

/** True when the process lives, or a process that it started in its group. */
function isAlive(pid) {
  try {
    signalAll(pid, 0);
    return true;
  } catch (thrown) {
    return thrown.code === "EPERM";
  }
}

/** Signals a process and all of its group. */
function signalAll(pid, signal) {
  try {
    process.kill(GROUPS ? -pid : pid, signal);
  } catch (thrown) {
    if (thrown.code !== "ESRCH") throw thrown;
    if (GROUPS) process.kill(pid, signal);
  }
}

function touch(file) {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {}
}

function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
