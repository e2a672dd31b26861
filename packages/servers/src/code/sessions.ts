/** Interpreters that live on between calls, each in a sandbox of its own, until they are not used for a while. */

import { randomBytes } from "node:crypto";
import { type FileMap, plainPath } from "../sandbox/archive.ts";
import { type Launched, launch } from "../sandbox/launch.ts";
import type { Sandbox } from "../sandbox/open.ts";
import { KeptOutput } from "../sandbox/output.ts";
import { enter, outOfMemoryNote, TIMED_OUT, timedOutNote, withNotes } from "../sandbox/run.ts";
import type { Language } from "./languages.ts";
import { fitting, leftNote, type MadeFilesLimits } from "./made-files.ts";
import { MarkedStream } from "./marked.ts";

export interface SessionLimits {
  /** Sessions at once, of all who ask. Default 4. */
  maxSessions: number;
  /** Sessions at once, of each who asks, where they can be told apart. Default 2. */
  maxSessionsPerPrincipal: number;
  /** Milliseconds after which a session that is not used ends. Default 600,000. */
  sessionIdle: number;
}

export interface SessionCall {
  code: string;
  files: FileMap;
  /** Seconds. */
  timeout: number;
  signal: AbortSignal;
  onText: (text: string) => void;
  /** What bounds the files that it may make, to be given back. */
  made: MadeFilesLimits;
}

export interface SessionOutcome {
  returncode: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
  files: Map<string, Buffer>;
}

/** All sessions of a server. They are whose made them: others don't find them. */
export class Sessions {
  readonly #sandbox: Sandbox;
  readonly #limits: SessionLimits;
  readonly #sessions = new Map<string, Session>();
  #starting = 0;

  constructor(sandbox: Sandbox, limits: SessionLimits) {
    this.#sandbox = sandbox;
    this.#limits = limits;
  }

  /**
   * Starts an interpreter.
   *
   * @returns its handle
   * @throws Error that names the limit, or says why it does not start
   */
  async start(language: Language, owner: string): Promise<string> {
    const { maxSessions, maxSessionsPerPrincipal, sessionIdle } = this.#limits;
    if (this.#sessions.size + this.#starting >= maxSessions)
      throw new Error(
        `there are as many sessions as maxSessions allows (${maxSessions}); end one, or try again later`,
      );
    const own = [...this.#sessions.values()].filter((session) => session.owner === owner).length;
    if (owner !== "" && own >= maxSessionsPerPrincipal)
      throw new Error(
        `you have as many sessions as maxSessionsPerPrincipal allows (${maxSessionsPerPrincipal}); end one`,
      );
    this.#starting++;
    try {
      const leave = enter(this.#sandbox);
      const launched = await launch(this.#sandbox, language.driver, { talks: true }).catch((thrown) => {
        leave();
        throw thrown;
      });
      launched.unref();
      const handle = `session-${randomBytes(16).toString("hex")}`;
      this.#sessions.set(handle, new Session(language.name, owner, launched, this.#sandbox, sessionIdle));
      void launched.ended.then(() => {
        leave();
        this.#sessions.delete(handle);
      });
      return handle;
    } finally {
      this.#starting--;
    }
  }

  /** @throws Error when there is none of this handle, or it is of another language */
  find(handle: string, language: string | undefined, owner: string): Session {
    const session = this.#sessions.get(handle);
    if (session === undefined || session.owner !== owner)
      throw new Error(
        `there is no session ${JSON.stringify(handle.slice(0, 64))}, or it has ended; start one with start_session`,
      );
    if (language !== undefined && session.language !== language)
      throw new Error(`this is a session of ${session.language}, not of ${language}`);
    return session;
  }
}

/** Timers that are longer end at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** One interpreter. */
class Session {
  readonly language: string;
  readonly owner: string;
  readonly #launched: Launched;
  readonly #sandbox: Sandbox;
  readonly #idle: number;
  readonly #stdout = new MarkedStream();
  readonly #stderr = new MarkedStream();
  #timer: NodeJS.Timeout | undefined;
  #before: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #ended = false;
  #onReply: (line: string) => void = () => {};

  constructor(language: string, owner: string, launched: Launched, sandbox: Sandbox, idle: number) {
    this.language = language;
    this.owner = owner;
    this.#launched = launched;
    this.#sandbox = sandbox;
    this.#idle = idle;
    launched.stdout.on("data", (chunk: Buffer) => this.#stdout.push(chunk));
    launched.stderr.on("data", (chunk: Buffer) => this.#stderr.push(chunk));
    void launched.ended.then(() => {
      this.#ended = true;
      clearTimeout(this.#timer);
    });
    this.#readReplies();
    this.#rest();
  }

  end(): Promise<unknown> {
    this.#launched.end();
    return this.#launched.ended;
  }

  /**
   * Runs code when those that were sent before have run.
   *
   * @throws Error when it has ended meanwhile; the signal's reason when it aborts
   */
  run(call: SessionCall): Promise<SessionOutcome> {
    this.#waiting++;
    clearTimeout(this.#timer);
    const mine = this.#before.then(() => this.#run(call));
    this.#before = mine
      .catch(() => {})
      .finally(() => {
        if (--this.#waiting === 0) this.#rest();
      });
    return mine;
  }

  /** Without calls it lives this long. */
  #rest(): void {
    if (this.#ended) return;
    this.#timer = setTimeout(() => this.#launched.end(), Math.min(this.#idle, LONGEST_MS));
    this.#timer.unref();
  }

  async #run({ code, files, timeout, signal, onText, made }: SessionCall): Promise<SessionOutcome> {
    signal.throwIfAborted();
    if (this.#ended) throw new Error("the session has ended, with all that was in it; start another one");
    const { limits } = this.#sandbox;
    const mark = `\0${randomBytes(16).toString("hex")}\0`;
    const stdout = new KeptOutput(limits.maxOutputBytes, onText);
    const stderr = new KeptOutput(limits.maxOutputBytes, onText);
    const answered = Promise.all([
      new Promise<void>((resolve) => this.#stdout.expect(mark, (chunk) => stdout.push(chunk), resolve)),
      new Promise<void>((resolve) => this.#stderr.expect(mark, (chunk) => stderr.push(chunk), resolve)),
      new Promise<string>((resolve) => {
        this.#onReply = resolve;
      }),
    ]).then(([, , line]) => readReply(line, made));
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      this.#launched.end();
    }, timeout * 1000);
    const cancel = () => this.#launched.end();
    signal.addEventListener("abort", cancel, { once: true });
    const given = Object.fromEntries(
      [...files].map(([path, content]) => [path, Buffer.from(content).toString("base64")]),
    );
    this.#launched.request?.write(
      `${JSON.stringify({ code, files: given, mark, maxBytes: made.maxMadeBytes, maxFiles: made.maxMadeFiles })}\n`,
    );
    const ending = this.#launched.ended.then((returncode) => ({
      returncode,
      files: new Map<string, Buffer>(),
      left: 0,
    }));
    const reply = await Promise.race([answered, ending]);
    clearTimeout(deadline);
    signal.removeEventListener("abort", cancel);
    signal.throwIfAborted();
    const notes = reply.left > 0 ? [leftNote(made)] : [];
    if (this.#ended) {
      this.#stdout.flush();
      this.#stderr.flush();
      if (late) notes.push(timedOutNote(timeout));
      if (this.#launched.ranOutOfMemory()) notes.push(outOfMemoryNote(limits));
      notes.push("the session has ended, with all that was in it");
    }
    return {
      returncode: late ? TIMED_OUT : reply.returncode,
      stdout: stdout.text,
      stderr: withNotes(stderr.text, notes),
      truncated: stdout.truncated || stderr.truncated,
      files: reply.files,
    };
  }

  /** A line is one reply; one that is too long is not the driver's. */
  #readReplies(): void {
    const most = 2 * this.#sandbox.limits.maxFolderBytes;
    let parts: string[] = [];
    let length = 0;
    this.#launched.report?.setEncoding("utf8").on("data", (text: string) => {
      const end = text.indexOf("\n");
      parts.push(end === -1 ? text : text.slice(0, end));
      length += text.length;
      if (length > most) return this.#launched.end();
      if (end === -1) return;
      const line = parts.join("");
      parts = [];
      length = 0;
      this.#onReply(line);
    });
  }
}

/** Whatever runs in the session may have written it. */
function readReply(line: string, limits: MadeFilesLimits): Reply {
  try {
    const { returncode, files, left } = JSON.parse(line) as {
      returncode: unknown;
      files: Record<string, unknown>;
      left: unknown;
    };
    const found = Object.entries(files).flatMap(([name, content]): [string, Buffer][] => {
      const path = plainPath(name);
      return path === undefined || typeof content !== "string"
        ? []
        : [[path, Buffer.from(content, "base64")]];
    });
    const made = fitting(found, limits);
    if (Number.isInteger(returncode))
      return { returncode: Number(returncode), files: made.files, left: made.left + (Number(left) || 0) };
  } catch {
    // Not the driver's.
  }
  return { returncode: 1, files: new Map(), left: 0 };
}

interface Reply {
  returncode: number;
  files: Map<string, Buffer>;
  left: number;
}
