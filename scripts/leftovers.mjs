/** Finds processes that a test run has left behind (Linux: read from /proc; elsewhere none are found). */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { sep } from "node:path";
import { ROOT } from "./run.mjs";

const NAME = "PATCHBAY_TEST_RUN";
const startedAt = Date.now();

/** The variable that marks a run: whatever inherits it belongs to the run. */
export function markOf(pid) {
  return { [NAME]: `${pid}-${startedAt}` };
}

/**
 * Tells, and ends, the processes that still carry the mark. Those that were started with an environment of
 * their own are known by having lost their parent while they work in this repository.
 */
export function leftovers(mark) {
  if (process.platform !== "linux") return [];
  const found = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const marked = readFileSync(`/proc/${pid}/environ`, "utf8").includes(`${NAME}=${mark[NAME]}`);
      if (!marked && !isOrphanOfOurs(pid)) continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if (command === "") continue;
      found.push(`${pid} ${command}`);
      if (marked) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It ended meanwhile, or is another user's.
    }
  }
  return found;
}

function isOrphanOfOurs(pid) {
  const parent = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  const folder = readlinkSync(`/proc/${pid}/cwd`);
  return parent === "1" && (folder + sep).startsWith(ROOT + sep) && startOf(pid) > startedAt;
}

/** When a process started, in milliseconds as `Date.now` counts them. */
function startOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // Fields are counted after the name, which may hold anything; times are in hundredths of a second.
  const ticks = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]);
  const upSeconds = Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  return Date.now() - upSeconds * 1000 + ticks * 10;
}
