/** Runs one command to its end: within its time, its output kept and told, its files handed in and out. */

import { launch } from "./launch.ts";
import type { SandboxLimits } from "./limits.ts";
import type { Sandbox } from "./open.ts";
import { KeptOutput } from "./output.ts";

export interface RunRequest {
  command: readonly string[];
  /** What it reads; nothing by default. */
  stdin?: string | undefined;
  /** Seconds that it may take. */
  timeout: number;
  /** Ends it. */
  signal: AbortSignal;
  /** Is told what it writes, to stdout and stderr, as it comes. */
  onText?: ((text: string) => void) | undefined;
  /** What is in its folder, as tar archives. */
  files?: Files;
}

/** What is in a command's folder before and after it. */
export interface Files {
  /** An archive, or the descriptor of a file that holds one. */
  before: Uint8Array | number | undefined;
  /** Takes the archive of what is there when it has ended; not to be used unless `filesKept`. */
  after(chunk: Buffer): void;
  /** Bytes of the archive after it; beyond, it is broken off. */
  maxBytes: number;
}

export interface Outcome {
  /** As of a shell: 124 when it took too long, 127 when it was not found, 128 and the number of a signal. */
  returncode: number;
  stdout: string;
  stderr: string;
  /** Whether it wrote more than is kept. */
  truncated: boolean;
  /** Whether `files.after` was given the whole archive. */
  filesKept: boolean;
}

export const TIMED_OUT = 124;
const KILLED = 137;
/** Beyond its own time a command gets this much to start, and to have its files collected. */
const GRACE_MS = 5_000;

/** Stands around a command whose files are wanted: unpacks, runs, reports its exit code and packs. */
const ATTEND = `
[ "$1" = empty ] || tar -xf - <&5
shift
exec 5<&- 6>&2 2>/dev/null
"$@" 2>&6 4>&- 6>&-
echo "$?" >&4
exec tar -cf - . >&4`;

/**
 * @throws Error that says so when too many run at once or it cannot be started; the signal's reason when it aborts
 */
export async function run(sandbox: Sandbox, request: RunRequest): Promise<Outcome> {
  const { limits } = sandbox;
  const { stdin, timeout, signal, onText, files } = request;
  signal.throwIfAborted();
  const leave = enter(sandbox);
  try {
    const confined = sandbox.filter !== undefined;
    // Inside, so that nothing outlives its time even if we do not outlive it.
    const timed = confined
      ? ["timeout", "--foreground", "-s", "KILL", String(timeout), ...request.command]
      : request.command;
    const before = files?.before;
    const attended =
      files === undefined
        ? timed
        : ["/bin/sh", "-c", ATTEND, "attend", before === undefined ? "empty" : "restore", ...timed];
    const started = performance.now();
    const launched = await launch(sandbox, attended, {
      stdin: stdin !== undefined,
      talks: files !== undefined,
      requestFile: typeof before === "number" ? before : undefined,
    });
    const { end } = launched;
    const stdout = new KeptOutput(limits.maxOutputBytes, onText);
    const stderr = new KeptOutput(limits.maxOutputBytes, onText);
    launched.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    launched.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    const report = new Report(files, end);
    launched.report?.on("data", (chunk: Buffer) => report.push(chunk));
    launched.stdin?.end(stdin);
    launched.request?.end(typeof before === "number" ? undefined : before);
    let late = false;
    const deadline = setTimeout(
      () => {
        late = true;
        end();
      },
      timeout * 1000 + (confined ? GRACE_MS : 0),
    );
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    const code = await launched.ended;
    clearTimeout(deadline);
    signal.removeEventListener("abort", end);
    signal.throwIfAborted();
    const returncode = report.returncode ?? code;
    const timedOut = late || (returncode === KILLED && performance.now() - started >= timeout * 1000);
    const notes = [
      ...(timedOut ? [timedOutNote(timeout)] : []),
      ...(launched.ranOutOfMemory() ? [outOfMemoryNote(limits)] : []),
    ];
    return {
      returncode: timedOut ? TIMED_OUT : returncode,
      stdout: stdout.text,
      stderr: withNotes(stderr.text, notes),
      truncated: stdout.truncated || stderr.truncated,
      filesKept: files !== undefined && report.whole && code === 0,
    };
  } finally {
    leave();
  }
}

/** What we have to say of a command, after what it said itself. */
export function withNotes(stderr: string, notes: readonly string[]): string {
  if (notes.length === 0) return stderr;
  const said = notes.map((note) => `[sandbox: ${note}]\n`).join("");
  return stderr === "" || stderr.endsWith("\n") ? stderr + said : `${stderr}\n${said}`;
}

export function timedOutNote(timeout: number): string {
  return `it took longer than its timeout of ${timeout} s, and was ended`;
}

export function outOfMemoryNote({ maxMemoryBytes }: SandboxLimits): string {
  return `what used more memory, all together, than maxMemoryBytes (${maxMemoryBytes}) was ended`;
}

/**
 * Counts one more that runs.
 *
 * @returns ends that, once
 * @throws Error that names the limit
 */
export function enter(sandbox: Sandbox): () => void {
  const { maxRunning } = sandbox.limits;
  if (sandbox.running >= maxRunning)
    throw new Error(
      `as many commands run as maxRunning allows (${maxRunning}); try again when one has ended`,
    );
  sandbox.running++;
  let left = false;
  return () => {
    if (!left) sandbox.running--;
    left = true;
  };
}

/** What a command's attendant reports: its exit code on a line, then an archive. */
class Report {
  readonly #files: Files | undefined;
  readonly #end: () => void;
  #line = "";
  #bytes = 0;
  returncode: number | undefined;
  whole = true;

  constructor(files: Files | undefined, end: () => void) {
    this.#files = files;
    this.#end = end;
  }

  push(chunk: Buffer): void {
    const { returncode } = this;
    let rest = chunk;
    if (returncode === undefined) {
      const newline = chunk.indexOf("\n");
      this.#line += chunk.subarray(0, newline === -1 ? 16 : newline).toString("latin1");
      if (newline === -1 && this.#line.length < 16) return;
      if (!/^\d{1,3}$/.test(this.#line)) return this.#break();
      this.returncode = Number(this.#line);
      rest = chunk.subarray(newline + 1);
    }
    if (!this.whole || rest.length === 0) return;
    this.#bytes += rest.length;
    if (this.#files === undefined || this.#bytes > this.#files.maxBytes) return this.#break();
    this.#files.after(rest);
  }

  /** What comes is too much, or no report: the command itself has got hold of the pipe. */
  #break(): void {
    this.whole = false;
    this.#end();
  }
}
