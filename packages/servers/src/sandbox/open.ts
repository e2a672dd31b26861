/** Finds out whether this machine can hold a command in a sandbox, by running one with the exact flags. */

import { tmpdir } from "node:os";
import { asUser, closingInherited, confinement, foreignNode, usersFile } from "./bubblewrap.ts";
import { type SandboxLimits, type SandboxOptions, sandboxLimits } from "./limits.ts";
import { findMemoryGroups, type MemoryGroups } from "./memory.ts";
import { run } from "./run.ts";
import { seccompFilter } from "./seccomp.ts";
import { PROCESSORS } from "./syscalls.ts";

/** How commands are run. */
export interface Sandbox {
  readonly limits: SandboxLimits;
  /** What stands before each command; nothing where there is no sandbox. */
  readonly prefix: readonly string[];
  /** The filter of system calls; nothing where there is no sandbox. */
  readonly filter: Uint8Array | undefined;
  /** What /etc/passwd holds in it. */
  readonly users: string;
  /** Where memory can be bound by the kernel; else it is watched. */
  readonly groups: MemoryGroups | undefined;
  /** Where there is no sandbox: commands get folders in this one. */
  readonly folder?: string;
  /** What of the environment is another than in a sandbox. */
  readonly environment?: NodeJS.ProcessEnv;
  /** How many run now. */
  running: number;
}

/** Why there is none. */
export interface NoSandbox {
  unavailable: string;
}

const PROBE_SECONDS = 10;
const NOBODY = 65534;

/** @throws Error that names an option that cannot be right */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox | NoSandbox> {
  const limits = sandboxLimits(options);
  const { user = NOBODY, unsafeNoSandbox = false } = options;
  if (!Number.isSafeInteger(user) || user < 1)
    throw new Error(`user must be the number of a user, and not root`);
  if (unsafeNoSandbox) return withoutSandbox(limits);
  const { platform, arch } = process;
  if (platform !== "linux") return unavailable(`bubblewrap is for Linux, and this is ${platform}`);
  const processor = PROCESSORS[arch];
  if (processor === undefined) return unavailable(`there is no filter of system calls for ${arch}`);
  const filter = seccompFilter(processor);
  const own = process.getuid?.() ?? 0;
  const become = own === 0 ? asUser(user) : [];
  const groups = findMemoryGroups();
  const open = (node: string | undefined): Sandbox => ({
    limits,
    prefix: [...closingInherited(), ...become, ...confinement(limits, true, node)],
    filter,
    users: usersFile(own === 0 ? user : own),
    groups,
    running: 0,
  });
  const node = foreignNode();
  if (node !== undefined) {
    // It may be in a folder that only its owner sees: then commands have to do without it.
    const withNode = open(node);
    if ((await fault(withNode)) === undefined) return withNode;
  }
  const sandbox = open(undefined);
  const reason = await fault(sandbox);
  return reason === undefined ? sandbox : unavailable(reason);
}

/** What is wrong with a sandbox; nothing when a command runs in it. */
export async function fault(sandbox: Sandbox): Promise<string | undefined> {
  try {
    const signal = new AbortController().signal;
    const { returncode, stderr } = await run(sandbox, { command: ["true"], timeout: PROBE_SECONDS, signal });
    if (returncode === 0) return undefined;
    return (
      stderr
        .trim()
        .split("\n")[0]
        ?.replace(/^\S*bwrap: /, "") || `it ended with ${returncode}`
    );
  } catch (thrown) {
    return (thrown as Error).message.replace(/^bwrap /, "bubblewrap ");
  }
}

function unavailable(reason: string): NoSandbox {
  return { unavailable: `sandbox unavailable: ${reason}; install bubblewrap or allow user namespaces` };
}

function withoutSandbox(limits: SandboxLimits): Sandbox {
  const { PATH, LANG } = process.env;
  const environment = { ...(PATH && { PATH }), ...(LANG && { LANG }) };
  return {
    limits,
    prefix: [],
    filter: undefined,
    users: "",
    groups: undefined,
    folder: tmpdir(),
    environment,
    running: 0,
  };
}
