/** What a configuration asks its user for (VS Code's `inputs`): a text, a secret, or one of several. */

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { Terminal } from "../dialog.ts";
import { usage } from "../failure.ts";
import { visible, visibleLine, visibleName } from "../visible.ts";
import type { Input } from "./schema.ts";

/** Answers what a configuration asks for. */
export type AskInput = (input: Input) => Promise<string>;

/**
 * The answer where nobody can be asked: the default, if there is one.
 *
 * @param place where the input is used; the error names it
 * @throws Failure (usage) that says how to do without a question
 */
export function withoutAsking({ id, default: otherwise, description }: Input, place: string): string {
  if (otherwise !== undefined) return otherwise;
  const about = description === undefined ? "" : `: ${visibleLine(description)}`;
  const variable = id
    .toUpperCase()
    .replace(/\W+/g, "_")
    .replace(/^(?=\d)/, "_");
  throw usage(
    `${place}: \${input:${visibleName(id)}} asks the user${about}, and nobody can be asked here. ` +
      `Run this in a terminal, or write \${${variable}} in its place and set that variable.`,
  );
}

/**
 * Asks on the terminal; what is typed for a secret is not shown. Enter alone takes the default.
 *
 * @throws the signal's reason when it is aborted; Failure (usage) when the input is closed
 */
export function askInput(
  input: Input,
  signal: AbortSignal,
  { input: stdin, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<string> {
  signal.throwIfAborted();
  const { options = [], default: otherwise } = input;
  output.write(`\n${visible(input.description ?? input.id)}\n`);
  for (const [index, option] of options.entries()) output.write(`  ${index + 1}. ${visibleLine(option)}\n`);
  const hint = otherwise === undefined ? "" : ` (${visibleLine(otherwise)})`;
  const lines = createInterface({
    input: stdin,
    output: input.password === true ? new Writable({ write: (_chunk, _encoding, done) => done() }) : output,
    terminal: "isTTY" in stdin && stdin.isTTY === true,
  });
  const prompt = `${visibleName(input.id)}${hint}: `;
  if (input.password === true) output.write(prompt);
  lines.setPrompt(prompt);
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener("abort", stop);
      lines.close();
      if (input.password === true) output.write("\n");
      settle();
    };
    const stop = () => end(() => reject(signal.reason));
    signal.addEventListener("abort", stop, { once: true });
    // On a terminal, readline sees Ctrl-C before the process does.
    lines.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
    lines.once("close", () => end(() => reject(usage(`"${visibleName(input.id)}" was not answered.`))));
    lines.on("line", (line) => {
      const typed = line.trim() === "" ? (otherwise ?? "") : line;
      const answer = options.length === 0 ? typed : (options[Number(typed) - 1] ?? matching(typed, options));
      if (answer !== undefined && answer !== "") end(() => resolve(answer));
      else if (input.password === true) output.write(prompt);
      else lines.prompt();
    });
    lines.prompt();
  });
}

function matching(typed: string, options: readonly string[]): string | undefined {
  return options.find((option) => option === typed.trim());
}
