/** The command in a real terminal: tmux runs it, types, and tells what stands on the screen. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { programFile } from "../../../scripts/test/needs.ts";
import { BIN } from "./patchbay.ts";

export interface TerminalOptions {
  cwd: string;
  env?: Record<string, string>;
  columns?: number;
  /** What stands behind the command: `2> errors`. */
  redirect?: string;
}

let sockets = 0;
/** Milliseconds after which what is waited for will not come: a test then shows the screen, rather than its own end. */
const PATIENCE = Number(process.env.TERMINAL_PATIENCE ?? 45_000);

export class Terminal {
  readonly #tmux: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<void>;
  readonly #replies: ((lines: string[]) => void)[] = [];
  readonly #listeners = new Set<(news?: "late") => void>();
  #reply: string[] | undefined;
  #bytes = "";

  private constructor(tmux: ChildProcessWithoutNullStreams) {
    this.#tmux = tmux;
    this.#ended = new Promise((resolve) => tmux.once("close", () => resolve()));
    createInterface({ input: tmux.stdout }).on("line", (line) => this.#onLine(line));
  }

  /** Runs `patchbay` with these words; when it has ended, the screen says `left with <exit code>`. */
  static async open(words: string[], options: TerminalOptions): Promise<Terminal> {
    const { cwd, env = {}, columns = 100, redirect = "" } = options;
    const script = join(cwd, `terminal-${++sockets}.sh`);
    const command = [process.execPath, BIN, ...words].map(quoted).join(" ");
    writeFileSync(script, `trap : INT\n${command} ${redirect}\necho "left with $?"\nread end\n`);
    const socket = `patchbay-${process.pid}-${sockets}`;
    const session = ["-f", "/dev/null", "-L", socket, "-u", "-C", "new-session", "-s", "it"];
    const tmux = spawn(programFile("tmux"), [...session, `sh ${quoted(script)}`], {
      cwd,
      env: {
        PATH: process.env.PATH,
        HOME: cwd,
        XDG_CONFIG_HOME: cwd,
        TMUX_TMPDIR: cwd,
        LANG: "C.UTF-8",
        MODEL_PROVIDER: "rules",
        TERM: "xterm-256color",
        ...env,
      },
    });
    const terminal = new Terminal(tmux);
    await terminal.#run(`refresh-client -C ${columns}x50`);
    return terminal;
  }

  /** Types a text, and presses Enter. */
  async say(text: string): Promise<void> {
    if (text !== "") await this.type(text);
    await this.press("Enter");
  }

  async type(text: string): Promise<void> {
    await this.#run(`send-keys -l -- ${quoted(text)}`);
  }

  /** `C-c`, `C-d`, `Tab`, `Up`, … */
  async press(...keys: string[]): Promise<void> {
    await this.#run(`send-keys ${keys.join(" ")}`);
  }

  /** What is put into the terminal as one paste. */
  async paste(text: string): Promise<void> {
    await this.#run(`set-buffer -- ${quoted(text).replaceAll("\n", "'\"\\n\"'")}`);
    await this.#run("paste-buffer -p");
  }

  async resize(columns: number): Promise<void> {
    await this.#run(`refresh-client -C ${columns}x50`);
  }

  /** What stands there, and what has gone out at the top; a line that was wrapped is one. */
  async text(): Promise<string> {
    return (await this.#run("capture-pane -p -J -S -"))
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  /** All that was written to the terminal so far, byte by byte. */
  get bytes(): string {
    return this.#bytes;
  }

  /** Resolves with the match as soon as it stands there. */
  async sees(pattern: RegExp | string): Promise<RegExpMatchArray> {
    const wanted = typeof pattern === "string" ? new RegExp(escaped(pattern)) : pattern;
    const late = setTimeout(() => this.#tell("late"), PATIENCE);
    try {
      for (;;) {
        const news = this.#news();
        const text = await this.text();
        const found = text.match(wanted);
        if (found !== null) return found;
        if ((await news) === "late") throw new Error(`${wanted} is not to be seen:\n${text}`);
      }
    } finally {
      clearTimeout(late);
    }
  }

  /** Waits for the prompt of `chat`. */
  async ready(): Promise<void> {
    await this.sees(/(^|\n)user >$/);
  }

  /** Ends it, and all that runs in it. */
  async close(): Promise<void> {
    this.#tmux.stdin.end("kill-server\n");
    await this.#ended;
  }

  #tell(news?: "late"): void {
    for (const listener of this.#listeners) listener(news);
  }

  #news(): Promise<"late" | undefined> {
    return new Promise((resolve) => {
      const done = (news?: "late") => {
        this.#listeners.delete(done);
        resolve(news);
      };
      this.#listeners.add(done);
      void this.#ended.then(() => done("late"));
    });
  }

  #run(command: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#replies.push(resolve);
      this.#tmux.stdin.write(`${command}\n`);
      void this.#ended.then(() => reject(new Error(`the terminal is closed: ${command}`)));
    });
  }

  /** tmux's control mode: replies stand between %begin and %end, all else is news. */
  #onLine(line: string): void {
    if (line.startsWith("%begin ")) {
      // Our own commands have the flag 1; the one that tmux was started with has none.
      this.#reply = line.endsWith(" 1") ? [] : undefined;
    } else if (/^%(end|error) /.test(line)) {
      if (this.#reply !== undefined) this.#replies.shift()?.(this.#reply);
      this.#reply = undefined;
    } else if (this.#reply !== undefined) this.#reply.push(line);
    else if (line.startsWith("%output ")) {
      const [, , text = ""] = /^%output (%\d+) (.*)$/s.exec(line) ?? [];
      this.#bytes += text.replace(/\\(\d{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      );
      this.#tell();
    }
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
