/** One run of the command, from its words to its exit code: signals, broken pipes, errors. */

import { type Command, CommanderError } from "commander";
import type { Context } from "./context.ts";
import { readDotEnv } from "./environment.ts";
import { ExitCode, Failure, usage } from "./failure.ts";
import { Interrupts } from "./interrupts.ts";
import { Output } from "./output.ts";
import { createProgram } from "./program.ts";

/**
 * Runs a command line and ends the process with its exit code.
 *
 * @param argv the words after `patchbay`
 */
export async function main(argv: string[]): Promise<never> {
  const split = argv.indexOf("--");
  const words = split === -1 ? argv : argv.slice(0, split);
  const command = split === -1 ? undefined : argv.slice(split + 1);
  const output = new Output({
    json: words.includes("--json"),
    verbose: words.includes("--verbose") || words.includes("-v"),
  });
  const stop = new AbortController();
  const interrupts = new Interrupts();
  const interruption = watchSignals(stop, interrupts);
  const streams = watchStreams(stop);

  let exitCode: number = ExitCode.ok;
  const program = await createProgram(async (work) => {
    const { variables, warning } = readDotEnv();
    if (warning !== undefined) output.warn(warning);
    const context: Context = { output, signal: stop.signal, interrupts, command, fromFile: variables };
    exitCode = (await work(context)) ?? ExitCode.ok;
  }, words[0]);
  try {
    quiet(program);
    if (words.length === 0) program.help();
    await program.parseAsync(words.map(asQuestion), { from: "user" });
  } catch (thrown) {
    if (stop.signal.aborted) exitCode = stopped(stop.signal.reason, output);
    else if (thrown instanceof CommanderError) exitCode = wrongUsage(thrown, words, program, output);
    else exitCode = output.thrown(thrown);
  }
  interruption.dispose();
  await flush();
  process.exit(streams.failed ? ExitCode.failed : exitCode);
}

/**
 * The first SIGINT or SIGTERM stops the work in order; a second one ends the process at once. A SIGINT that a piece of the
 * work takes for itself is none of these.
 */
function watchSignals(stop: AbortController, interrupts: Interrupts): { dispose(): void } {
  const onSignal = (name: "SIGINT" | "SIGTERM") => {
    if (name === "SIGINT" && !stop.signal.aborted && interrupts.tell()) return;
    const code = name === "SIGINT" ? ExitCode.interrupted : ExitCode.terminated;
    if (stop.signal.aborted) process.exit(code);
    stop.abort(new Failure("interrupted", code, `Stopped by ${name}.`));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    dispose() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}

/**
 * A reader that has seen enough (`| head`) is no error: the work stops, and nothing is said.
 * A full disk is one; what was to be written is lost. Who cannot be told on stderr is told nothing, and that is all: a
 * server does not end with who reads its log.
 */
function watchStreams(stop: AbortController): { failed: boolean } {
  const state = { failed: false };
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const code = error.code === "EPIPE" ? ExitCode.ok : ExitCode.failed;
    if (code !== ExitCode.ok && !state.failed) {
      state.failed = true;
      process.stderr.write(`error: stdout could not be written (${error.code ?? error.message}).\n`);
    }
    if (!stop.signal.aborted) stop.abort(new Failure("interrupted", code, ""));
  });
  return state;
}

function stopped(reason: unknown, output: Output): number {
  if (!(reason instanceof Failure)) return ExitCode.failed;
  if (reason.message !== "" && reason.exitCode !== ExitCode.ok && output.json) output.failure(reason);
  return reason.exitCode;
}

/** Commander throws rather than exits, and leaves it to us to print what was wrong. */
function quiet(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => {} });
  for (const inner of command.commands) quiet(inner);
}

function wrongUsage(error: CommanderError, words: string[], program: Command, output: Output): number {
  if (error.exitCode === 0) return ExitCode.ok;
  if (error.code === "commander.help") return ExitCode.usage;
  const [message = "", suggestion] = error.message
    .replace(/^error: /, "")
    .split(/\n?\(Did you mean (?:one of )?(.*)\?\)/);
  output.failure(usage(`${message.trim().replace(/\.$/, "")}.`, suggestion));
  const name = words.find((word) => program.commands.some((command) => command.name() === word));
  if (!output.json)
    output.note(`"patchbay ${name === undefined ? "" : `${name} `}--help" shows what there is.`);
  return ExitCode.usage;
}

/** `ask -3+5`: what begins with a minus and a digit is arithmetic, not an option. */
function asQuestion(word: string, index: number, words: string[]): string {
  return words[0] === "ask" && index > 0 && /^-[\d.(]/.test(word) ? ` ${word}` : word;
}

function flush(): Promise<void> {
  return new Promise((resolve) => process.stdout.write("", () => process.stderr.write("", () => resolve())));
}
