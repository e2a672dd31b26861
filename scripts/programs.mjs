/** The programs that tests need beside Node: where they are, and the Debian packages that bring them. */

import { accessSync, constants, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { run } from "./run.mjs";

/** Program → the package of Debian (and its kin) that holds it. Tests ask for a program by `needs` in scripts/test. */
export const PROGRAMS = {
  "redis-server": "redis-server",
  nginx: "nginx",
  haproxy: "haproxy",
  bwrap: "bubblewrap",
  python3: "python3",
  chromium: "chromium",
  "dbus-run-session": "dbus",
  "gnome-keyring-daemon": "gnome-keyring",
  postgres: "postgresql",
  tmux: "tmux",
};

/** What is asked before a package's service is started; 101 forbids it. */
const POLICY = "/usr/sbin/policy-rc.d";

/** Where Debian keeps the versions of PostgreSQL. */
const POSTGRES = "/usr/lib/postgresql";

/** The program's file; undefined where it is not installed. Daemons are not on every user's path. */
export function locate(program) {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const folders = [
    ...versions.map((version) => join(POSTGRES, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
    "/usr/sbin",
    "/usr/local/sbin",
  ];
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

/** What to do about programs that are missing, in one sentence. */
export function remedy(programs) {
  const packages = programs.map((program) => PROGRAMS[program]).join(" ");
  return existsSync("/usr/bin/apt-get") ? `run: apt-get install ${packages}` : `install ${packages}`;
}

/**
 * Installs the packages of the programs that are missing, where that is possible without asking: on Debian, as
 * root. Starts none of their services. The tests themselves say what is missing still.
 */
export async function installPrograms() {
  const missing = Object.keys(PROGRAMS).filter((program) => locate(program) === undefined);
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) return;
  const packages = missing.map((program) => PROGRAMS[program]);
  console.log(`Installing what tests need: ${packages.join(" ")}`);
  const hadPolicy = existsSync(POLICY);
  if (!hadPolicy) writeFileSync(POLICY, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    // A fresh machine knows of no package yet.
    if ((await apt("install", packages)) !== 0 && (await apt("update", [])) === 0) {
      await apt("install", packages);
    }
  } finally {
    if (!hadPolicy) rmSync(POLICY);
  }
}

function apt(command, words) {
  const args = ["-qq", "--yes", "--no-install-recommends", command, ...words];
  return run("apt-get", args, { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } });
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
