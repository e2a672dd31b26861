/** The command line that runs a command in a sandbox of bubblewrap's: which part stops what. */

import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import type { SandboxLimits } from "./limits.ts";

/** All that a command sees of the environment. */
export const ENVIRONMENT = {
  // The Node that runs us comes before others.
  PATH: "/interpreters:/usr/local/bin:/usr/bin:/bin",
  HOME: "/box",
  LANG: "C.UTF-8",
  PYTHONDONTWRITEBYTECODE: "1",
  PYTHONUNBUFFERED: "1",
};

/** The descriptors of a command beside stdin, stdout and stderr. */
export const FILTER_FD = 3;
export const REPORT_FD = 4;
export const REQUEST_FD = 5;
/** Where bubblewrap reads what names the command's user. */
export const USERS_FD = 6;

/** Files of a command that are no memory of its processes: /dev/shm and /tmp. */
const SHARED_MEMORY_BYTES = 16 * 1024 * 1024;
const TEMPORARY_BYTES = 32 * 1024 * 1024;

/**
 * What a process may ask for beyond its memory. From Node 22 on each thread of JavaScript sets half a gibibyte aside, and
 * uses little of it. Memory that is used is bounded for all processes together.
 */
const RESERVED_BYTES = 2 * 1024 * 1024 * 1024;

/** What stands around a command; it begins with `bwrap` and ends before the command. */
export function confinement(limits: SandboxLimits, filtered: boolean, node: string | undefined): string[] {
  return [
    "bwrap",
    // Namespaces of its own: nothing of the machine's processes, network, users, names and shared memory is there.
    ...["--unshare-all", "--unshare-user", "--disable-userns"],
    // It ends when we do; and it has no terminal that it could type into.
    ...["--die-with-parent", "--new-session"],
    // Root in a user namespace could mount what is read-only again.
    ...["--cap-drop", "ALL"],
    ...["--ro-bind", "/usr", "/usr", ...systemFolders()],
    ...(node === undefined ? [] : ["--ro-bind", node, "/interpreters/node"]),
    ...["--ro-bind-data", String(USERS_FD), "/etc/passwd"],
    ...["--proc", "/proc"],
    // The folder of devices is a file system in memory without a bound: it is made read-only.
    ...["--dev", "/dev", ...memory(SHARED_MEMORY_BYTES, "/dev/shm"), "--remount-ro", "/dev"],
    ...memory(TEMPORARY_BYTES, "/tmp"),
    ...memory(limits.maxFolderBytes, "/box"),
    ...["--remount-ro", "/", "--chdir", "/box", "--hostname", "sandbox"],
    ...(filtered ? ["--seccomp", String(FILTER_FD)] : []),
    "--",
    // Inside: limits of a user count in its namespace alone.
    ...["prlimit", `--nproc=${limits.maxProcesses}`, `--fsize=${limits.maxFileBytes}`, "--nofile=256"],
    ...["--core=0", `--data=${limits.maxMemoryBytes + RESERVED_BYTES}`, "--"],
  ];
}

/** The one user that programs in the sandbox know. */
export function usersFile(user: number): string {
  return `sandbox:x:${user}:${user}::/box:/bin/bash\n`;
}

/** Becomes another user: limits do not hold root. */
export function asUser(user: number): string[] {
  return ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--inh-caps=-all", "--"];
}

/**
 * Closes what we have inherited from who started us: bubblewrap hands on what it is handed. What Node itself opens is
 * closed by it.
 */
export function closingInherited(): string[] {
  const inherited = readdirSync("/proc/self/fd").filter((fd) => Number(fd) > USERS_FD && isHandedOn(fd));
  if (inherited.length === 0) return [];
  return ["/bin/bash", "-c", `exec ${inherited.map((fd) => `${fd}>&-`).join(" ")}; exec "$@"`, "bash"];
}

/** Whether a descriptor is not closed when a program is started (O_CLOEXEC). */
function isHandedOn(fd: string): boolean {
  try {
    const [, flags = "0"] = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & 0o2000000) === 0;
  } catch {
    return false;
  }
}

function memory(bytes: number, folder: string): string[] {
  return ["--size", String(bytes), "--tmpfs", folder];
}

/** The folders beside /usr that programs are looked for in: links into it, on most systems. */
function systemFolders(): string[] {
  const folders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((folder) => {
    const kind = lstatSync(folder, { throwIfNoEntry: false });
    if (kind === undefined) return [];
    return kind.isSymbolicLink()
      ? ["--symlink", readlinkSync(folder), folder]
      : ["--ro-bind", folder, folder];
  });
  // Of /etc only what names programs and libraries of /usr.
  const names = ["/etc/alternatives", "/etc/ld.so.cache"];
  return [...folders, ...names.flatMap((name) => ["--ro-bind-try", name, name])];
}

/** The Node that runs us, where it is not in /usr; bound into the sandbox, if it can be. */
export function foreignNode(): string | undefined {
  const file = realpathSync(process.execPath);
  return file.startsWith("/usr/") ? undefined : file;
}
