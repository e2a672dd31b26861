/** What is printed, and where: answers and data on stdout; steps, progress and notes on stderr. */

import picocolors from "picocolors";
import { type Failure, toFailure } from "./failure.ts";
import { type Hidden, withoutSecrets } from "./secrets.ts";
import { visible, visibleJson, visibleLine } from "./visible.ts";

type Colors = ReturnType<typeof picocolors.createColors>;

export class Output {
  /** One JSON value on stdout, and nothing else there. */
  readonly json: boolean;
  /** Also what servers write to their stderr, and their log messages of every level. */
  readonly verbose: boolean;
  readonly colors: Colors;
  readonly errorColors: Colors;
  /** Whether a line can be drawn again and again in one place of stderr. */
  readonly redraws: boolean;
  readonly #hidden: Hidden[] = [];
  #progressShown = false;
  /** What is being said has not come to the end of its line. */
  #isMidLine = false;

  constructor({ json = false, verbose = false }: { json?: boolean; verbose?: boolean } = {}) {
    this.json = json;
    this.verbose = verbose;
    this.colors = picocolors.createColors(isColored(process.stdout));
    this.errorColors = picocolors.createColors(isColored(process.stderr));
    this.redraws = process.stderr.isTTY === true && process.env.TERM !== "dumb";
  }

  /** From now on no message shows these; what a server answers is data, and stays as it is. */
  hide(hidden: readonly Hidden[]): void {
    this.#hidden.push(...hidden);
  }

  /** A message, or any value of `--json` that is one, without what is hidden. */
  without<T>(value: T): T {
    if (typeof value === "string") return withoutSecrets(value, this.#hidden) as T;
    if (Array.isArray(value)) return value.map((inner) => this.without(inner)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.without(inner)])) as T;
  }

  /** Text on stdout, ended by one newline. Made safe first; what has colours goes through `styled`. */
  text(text: string): void {
    this.styled(visible(text));
  }

  /** Text with colours of ours; what comes from elsewhere in it has gone through `visible`. */
  styled(text: string): void {
    this.#clearProgress();
    this.#isMidLine = false;
    process.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
  }

  /** The one value of `--json`: indented on a terminal, on one line elsewhere. */
  value(value: unknown): void {
    this.#clearProgress();
    process.stdout.write(`${visibleJson(value, process.stdout.isTTY ? 2 : undefined)}\n`);
  }

  /** A piece of a text that is still being said; safe already, as in `styled`. */
  piece(text: string): void {
    if (text === "") return;
    this.#clearProgress();
    this.#isMidLine = !text.endsWith("\n");
    process.stdout.write(text);
  }

  /** Bytes on stdout, as they are. */
  bytes(bytes: Uint8Array): void {
    process.stdout.write(bytes);
  }

  /** One line for the reader on stderr. */
  note(text: string): void {
    this.#clearProgress();
    process.stderr.write(`${this.errorColors.dim(visible(this.without(text)))}\n`);
  }

  /** What is meant to be read, but is no answer: on stderr. */
  message(text: string): void {
    this.#clearProgress();
    process.stderr.write(`${visible(this.without(text))}\n`);
  }

  warn(text: string): void {
    this.#clearProgress();
    process.stderr.write(`${this.errorColors.yellow("warning:")} ${visible(this.without(text))}\n`);
  }

  /** How far a long piece of work is: one line that renews itself on a terminal, lines elsewhere. */
  progress(text: string): void {
    const line = visibleLine(this.without(text));
    if (!this.redraws) process.stderr.write(`${line}\n`);
    else if (!this.#isMidLine) this.#redraw(line);
  }

  /** Takes the line of `progress` away. */
  endProgress(): void {
    this.#clearProgress();
  }

  /** However wide its characters are, it stays one line: the terminal is told not to wrap it. */
  #redraw(line: string): void {
    const width = Math.max(20, (process.stderr.columns || 80) - 1);
    const cut = [...line.slice(0, 2 * width)].slice(0, width).join("");
    process.stderr.write(`\r\u001B[K\u001B[?7l${this.errorColors.dim(cut)}\u001B[?7h`);
    this.#progressShown = true;
  }

  /** Why the command did not succeed: on stderr, and with `--json` as `{"error": …}` on stdout. */
  failure(failure: Failure): void {
    this.#clearProgress();
    if (this.json) {
      this.value({
        error: { kind: failure.kind, ...this.without({ message: failure.message, ...failure.details }) },
      });
    } else {
      process.stderr.write(`${this.errorColors.red("error:")} ${visible(this.without(failure.message))}\n`);
    }
  }

  /** Any thrown value, shown; gives the exit code. */
  thrown(thrown: unknown): number {
    const failure = toFailure(thrown);
    this.failure(failure);
    return failure.exitCode;
  }

  #clearProgress(): void {
    if (!this.#progressShown) return;
    process.stderr.write("\r\u001B[K");
    this.#progressShown = false;
  }
}

/** Only on a terminal, and not where NO_COLOR (any value) or TERM=dumb says no. */
function isColored(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}

/** Milliseconds as a reader wants them: `12 ms`, `3.4 s`, `2 min 5 s`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${Math.floor(milliseconds / 60_000)} min ${Math.floor((milliseconds % 60_000) / 1_000)} s`;
}
