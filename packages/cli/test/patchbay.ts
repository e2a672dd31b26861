/** Runs the built command as its users do: as a process of its own. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
export const BIN = resolve(HERE, "../dist/main.js");
export const FIXTURE = resolve(HERE, "fixtures/server.mjs");
/** A server to put at the end of a command line. */
export const AFTER = ["--", process.execPath, FIXTURE];

/** An empty folder: the working directory of a run, and its user's configuration folder. */
export function emptyFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "patchbay-cli-")));
}

export interface Surroundings {
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Run {
  child: ChildProcessWithoutNullStreams;
  ended: Promise<Ended>;
  /** Resolves with the match as soon as the stream has said it; rejects when the process ends before. */
  said(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpMatchArray>;
}

/** Nothing of this machine's own settings reaches the run: no keys, no configuration, no colour. */
export function begin(words: string[], surroundings: Surroundings): Run {
  return beginNode([BIN, ...words], surroundings);
}

/** A module of a few lines, in the same surroundings. */
export function script(code: string, surroundings: Surroundings): Promise<Ended> {
  return beginNode(["--input-type=module", "--eval", code], surroundings).ended;
}

function beginNode(args: string[], { cwd, env = {} }: Surroundings): Run {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, XDG_CONFIG_HOME: cwd, MODEL_PROVIDER: "rules", ...env },
  });
  const heard = { stdout: "", stderr: "" };
  const listeners = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text) => {
      heard[stream] += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((done) => {
    child.once("close", (code, signal) => done({ code, signal, ...heard }));
  });
  return {
    child,
    ended,
    said: (stream, pattern) =>
      new Promise((found, lost) => {
        const look = () => {
          const match = heard[stream].match(pattern);
          if (match !== null) found(match);
        };
        listeners.add(look);
        look();
        void ended.then(() => lost(new Error(`never said ${pattern}: ${heard.stdout}${heard.stderr}`)));
      }),
  };
}

export function run(
  words: string[],
  { cwd, env, input = "" }: Surroundings & { input?: string },
): Promise<Ended> {
  const { child, ended } = begin(words, env === undefined ? { cwd } : { cwd, env });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return ended;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
