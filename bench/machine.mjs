/** The machine under the benchmark: its name, its cores, who runs on which, and what a process has used of them. */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, loadavg, platform } from "node:os";

const CLOCK_TICKS = 100; // USER_HZ, the same on every Linux that Node supports

/** Two cores that this process may use, when `taskset` can pin to them. */
function pinnableCores() {
  try {
    const list = execFileSync("taskset", ["-cp", String(process.pid)], { encoding: "utf8" })
      .split(":")
      .pop();
    const cores = list.split(",").flatMap((range) => {
      const [from, to = from] = range.trim().split("-").map(Number);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
    return cores.length >= 2 ? { server: cores[0], load: cores[1] } : undefined;
  } catch {
    return undefined;
  }
}

let cores = pinnableCores();

/** From now on whatever runs, runs where there is room. */
export function pinNothing() {
  cores = undefined;
}

/** Puts this process, all its threads, on the core of the load. */
export function pinLoad() {
  if (cores) execFileSync("taskset", ["-acp", String(cores.load), String(process.pid)], { stdio: "ignore" });
}

/** A command so that it runs on a core: that of the server, which is measured, that of the load, or on both. */
export function commandOn(core, command, args) {
  if (!cores) return [command, args];
  const list = core === "both" ? `${cores.server},${cores.load}` : String(cores[core]);
  return ["taskset", ["-c", list, command, ...args]];
}

export function describeMachine() {
  return {
    cpu: `${cpus()[0]?.model.trim() ?? "unknown CPU"}, ${cpus().length} cores, ${platform()} ${arch()}`,
    node: process.version,
    pinning: cores
      ? `server on core ${cores.server}, load on core ${cores.load}`
      : "not pinned: it takes taskset and two cores",
    loadAverage: Math.round(loadavg()[0] * 10) / 10,
  };
}

/**
 * Starts to count the CPU time of processes, with all their threads: where Linux tells it by the nanosecond, by that.
 *
 * @returns gives the seconds used since; undefined where there is no /proc
 */
export function cpuMeter(pids) {
  const seconds = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  try {
    const before = seconds();
    return () => seconds() - before;
  } catch {
    return () => undefined;
  }
}

/** A process, and the processes that it has started. */
export function withChildren(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
  return [pid, ...children.map(Number)];
}

function cpuSeconds(pid) {
  return bySchedule(pid) ?? byClockTicks(pid);
}

function bySchedule(pid) {
  const threads = `/proc/${pid}/task`;
  if (!existsSync(`/proc/${pid}/schedstat`)) return undefined;
  let nanoseconds = 0;
  for (const thread of readdirSync(threads)) {
    nanoseconds += Number(readFileSync(`${threads}/${thread}/schedstat`, "utf8").split(" ", 1)[0]);
  }
  return nanoseconds / 1e9;
}

function byClockTicks(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS; // utime, stime
}

/**
 * Starts to watch how much memory a process holds at most.
 *
 * @returns gives how many bytes that was above what it held; undefined where Linux does not tell
 */
export function residentPeak(pid) {
  try {
    const before = residentBytes(pid, "VmRSS");
    writeFileSync(`/proc/${pid}/clear_refs`, "5"); // the peak starts anew
    return () => residentBytes(pid, "VmHWM") - before;
  } catch {
    return () => undefined;
  }
}

function residentBytes(pid, key) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)[1]) * 1024;
}
