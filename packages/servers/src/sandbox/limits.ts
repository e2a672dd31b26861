/** What bounds a command in the sandbox, and what an operator may set. */

/** Bounds of one command, or of one interpreter that is kept. */
export interface SandboxLimits {
  /** Seconds that a command may take when its call does not say. Default 30. */
  timeout: number;
  /** The most seconds that a call may ask for. Default 300. */
  maxTimeout: number;
  /** Bytes of each of stdout and stderr that are kept: the first half and the last. Default 65,536. */
  maxOutputBytes: number;
  /** Bytes of memory, of all processes and files of a command together. Default 536,870,912. */
  maxMemoryBytes: number;
  /** Processes and threads at once. Default 64. */
  maxProcesses: number;
  /** Bytes of one file. Default 33,554,432. */
  maxFileBytes: number;
  /** Bytes of all files in the working folder. Default 67,108,864. */
  maxFolderBytes: number;
  /** Commands at once, of all who ask; more are refused. Default 8. */
  maxRunning: number;
}

/** How an operator wants commands to run. */
export interface SandboxOptions extends Partial<SandboxLimits> {
  /** Who runs a command where the server is root, by number: never root. Default 65534, nobody. */
  user?: number;
  /** Runs commands as the server itself, with all that it may do. Only where the whole machine is a sandbox. */
  unsafeNoSandbox?: boolean;
  /** Is told why there is no sandbox, or that its operator does without. Default: a line on stderr. */
  warn?: (text: string) => void;
}

const MEBIBYTE = 1024 * 1024;

const DEFAULTS: SandboxLimits = {
  timeout: 30,
  maxTimeout: 300,
  maxOutputBytes: 64 * 1024,
  maxMemoryBytes: 512 * MEBIBYTE,
  maxProcesses: 64,
  maxFileBytes: 32 * MEBIBYTE,
  maxFolderBytes: 64 * MEBIBYTE,
  maxRunning: 8,
};

/** @throws Error that names the option that cannot be right */
export function sandboxLimits(options: SandboxOptions): SandboxLimits {
  const limits = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS) as (keyof SandboxLimits)[]) {
    limits[name] = positive(name, options[name] ?? DEFAULTS[name]);
  }
  limits.timeout = Math.min(limits.timeout, limits.maxTimeout);
  return limits;
}

/** @throws Error that names the option */
export function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new Error(`${name} must be a positive whole number, not ${value}`);
  return value;
}
