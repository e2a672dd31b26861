/** Lines that a user types at a prompt, or that come through a pipe. */

import { type CompleterResult, createInterface, type Interface } from "node:readline";
import type { Context } from "../context.ts";
import type { Completer } from "../dialog.ts";
import { interrupt } from "../interrupts.ts";

/** Lines that are remembered for the arrow keys. */
const HISTORY = 100;
const BRACKETED_PASTE = { on: "\u001B[?2004h", off: "\u001B[?2004l" };

export interface Prompt {
  prompt: string;
  complete: Completer;
  /** Ctrl-C at an empty prompt: whether that leaves; else the user has been told what would. */
  onInterrupt: () => boolean;
  /** What the user has typed before it. */
  ahead: () => string;
  /** The user has typed something. */
  onTyped: () => void;
}

/**
 * What is typed at a prompt: a line, several if they are pasted or end with a backslash. Between two of them the keyboard
 * is free for who else asks the user something. Ends by Ctrl-D, or by a signal.
 */
export async function* typedLines(options: Prompt, { signal }: Context): AsyncGenerator<string> {
  const left: Left = { history: [], early: [], typed: "" };
  while (!signal.aborted) {
    const line = left.early.shift() ?? (await readLine(options, left, signal));
    if (line === undefined) return;
    yield line;
  }
}

/** What one prompt leaves to the next. */
interface Left {
  history: string[];
  /** Lines that came in the same moment. */
  early: string[];
  /** The beginning of another. */
  typed: string;
}

async function readLine(
  { prompt, complete, ahead, onInterrupt, onTyped }: Prompt,
  left: Left,
  signal: AbortSignal,
): Promise<string | undefined> {
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt,
    history: left.history,
    historySize: HISTORY,
    removeHistoryDuplicates: true,
    completer: (line: string, done: (error: null, result: CompleterResult) => void) =>
      void complete(line).then((result) => done(null, result)),
  });
  const close = () => lines.close();
  signal.addEventListener("abort", close, { once: true });
  lines.on("history", (now) => {
    left.history = now;
  });
  let said: string[] = [];
  lines.on("SIGINT", () => {
    if (lines.line === "" && said.length === 0 && onInterrupt()) return interrupt();
    said = [];
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
    lines.setPrompt(prompt);
    lines.prompt();
  });
  const pasting = watchPaste(onTyped);
  const typed = left.typed + ahead();
  left.typed = "";
  try {
    return await new Promise((resolve) => {
      let isOver = false;
      lines.on("line", (line) => {
        if (isOver) return void left.early.push(line);
        const goesOn = line.endsWith("\\") && !pasting.now();
        said.push(goesOn ? line.slice(0, -1) : line);
        if (goesOn || pasting.now()) return askForMore(lines);
        isOver = true;
        left.typed = "";
        resolve(said.join("\n"));
      });
      lines.once("close", () => resolve(undefined));
      lines.prompt();
      if (typed !== "") lines.write(typed);
    });
  } finally {
    left.typed = lines.line;
    pasting.end();
    signal.removeEventListener("abort", close);
    lines.close();
  }
}

function askForMore(lines: Interface): void {
  lines.setPrompt("… ");
  lines.prompt();
}

/** Terminals mark what is pasted, if they are asked to. */
function watchPaste(onTyped: () => void): { now(): boolean; end(): void } {
  let isPasting = false;
  const marks = process.env.TERM !== "dumb" && process.stdout.isTTY;
  const onKey = (text: string | undefined, key: { name?: string }) => {
    if (key.name === "paste-start") isPasting = true;
    if (key.name === "paste-end") isPasting = false;
    if (text !== undefined && text >= " ") onTyped();
  };
  if (marks) process.stdout.write(BRACKETED_PASTE.on);
  process.stdin.prependListener("keypress", onKey);
  return {
    now: () => isPasting,
    end() {
      process.stdin.off("keypress", onKey);
      if (marks) process.stdout.write(BRACKETED_PASTE.off);
    },
  };
}

export async function* pipedLines({ signal }: Context): AsyncGenerator<string> {
  const lines = createInterface({ input: process.stdin });
  const close = () => lines.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  try {
    yield* lines;
  } finally {
    signal.removeEventListener("abort", close);
    lines.close();
  }
}
