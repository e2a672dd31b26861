/** `import`: take over the servers of Claude Desktop, Claude Code, Cursor and VS Code. */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { nearest } from "@patchbay/core";
import { reviewText, shownPath, userConfigFile } from "../config/config.ts";
import { type Candidate, planImport } from "../config/import.ts";
import { withMembers } from "../config/jsonc.ts";
import type { ServerEntry } from "../config/schema.ts";
import { APPLICATIONS, type Application, sourcesOf, thisMachine } from "../config/sources.ts";
import type { Context } from "../context.ts";
import { ExitCode, failed, usage } from "../failure.ts";
import { MAX_FILE_BYTES, readSmallFile } from "../file.ts";
import type { Output } from "../output.ts";
import { visible, visibleLine, visibleName } from "../visible.ts";

export interface ImportOptions {
  /** The file that is written, in place of the user's own. */
  config?: string;
  /** Only these servers. */
  server?: string[];
  /** Also those of the working directory's own files. */
  project?: boolean;
  /** Without it nothing is written. */
  write?: boolean;
  /** A server that is there and says something else is replaced. */
  overwrite?: boolean;
}

/** Exit 1 when a server was asked to be written and could not be. */
export async function importServers(
  names: string[],
  options: ImportOptions,
  context: Context,
): Promise<number> {
  const work = () => takeOver(names, options, context);
  if (options.write !== true) return work();
  const file = options.config === undefined ? userConfigFile() : resolve(options.config);
  // Two that write the same file lose nothing of one another.
  const { PrivateFile } = await import("@patchbay/client/private-file");
  return new PrivateFile(file, MAX_FILE_BYTES).alone("import", context.signal, work).catch((thrown) => {
    const { code } = thrown as NodeJS.ErrnoException;
    throw code === undefined ? thrown : failed(`${shownPath(file)} could not be written (${code}).`);
  });
}

async function takeOver(names: string[], options: ImportOptions, context: Context): Promise<number> {
  const { output } = context;
  const machine = thisMachine();
  const applications = names.map(applicationOf);
  const sources = sourcesOf(machine).filter(
    ({ application, folder }) =>
      (applications.length === 0 || applications.includes(application)) &&
      // What came with a folder is not to get among the user's own by the way.
      (folder === undefined || options.project === true),
  );
  const file = options.config === undefined ? userConfigFile() : resolve(options.config);
  const target = await readTarget(file);
  const plan = planImport(sources, target.servers, machine);
  const { server: only } = options;
  const candidates = plan.candidates.filter(({ name }) => only === undefined || only.includes(name));
  for (const problem of plan.problems) output.warn(problem);
  const missing = only?.find((name) => !candidates.some((each) => each.name === name));
  if (missing !== undefined) {
    const known = plan.candidates.map(({ name }) => name);
    throw usage(`There is no server "${visibleName(missing)}" to take over.`, nearest(missing, known));
  }
  const chosen = candidates.filter((each) => isTaken(each, candidates, options));
  const written = options.write === true && chosen.length > 0;
  if (written) {
    const members = Object.fromEntries(chosen.map(({ name, entry }) => [name, entry]));
    const text = withMembers(target.text, target.key, members);
    await reviewText(text, shownPath(file));
    if (Buffer.byteLength(text) > MAX_FILE_BYTES)
      throw failed(`${shownPath(file)} would be larger than 1 MiB: take over fewer servers, with --server.`);
    write(file, text);
  }
  const told = candidates.map((each) => ({
    name: each.name,
    from: { application: each.source.application, file: each.source.file },
    state: each.state,
    taken: chosen.includes(each),
    ...(each.why !== undefined && { why: each.why }),
    ...(each.entry !== undefined && { entry: each.entry }),
    variables: each.variables,
    notes: each.notes,
  }));
  if (output.json) output.value({ file, written, servers: told });
  else show(candidates, chosen, { file: shownPath(file), written, found: plan.found.length }, output);
  const refused = candidates.some((each) => each.state === "conflict" && !chosen.includes(each));
  return options.write === true && refused ? ExitCode.failed : ExitCode.ok;
}

function applicationOf(name: string): Application {
  const known = Object.keys(APPLICATIONS) as Application[];
  const found = known.find((each) => each === name.toLowerCase());
  if (found !== undefined) return found;
  throw usage(`import takes ${known.join(", ")}, not "${visibleName(name)}".`, nearest(name, known));
}

/** A conflict is taken if that is asked for; of two of one name, the first. */
function isTaken(each: Candidate, all: readonly Candidate[], { overwrite }: ImportOptions): boolean {
  if (each.state === "add") return true;
  const first = all.find(({ name, state }) => name === each.name && state !== "invalid");
  return each.state === "conflict" && overwrite === true && first === each;
}

async function readTarget(
  file: string,
): Promise<{ text: string; key: string; servers: ReadonlyMap<string, ServerEntry> }> {
  let text: string;
  try {
    text = readSmallFile(file);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw failed(`${shownPath(file)}: it cannot be read (${code ?? message}).`);
    return { text: '{\n  "mcpServers": {}\n}\n', key: "mcpServers", servers: new Map() };
  }
  const { key, servers } = await reviewText(text, shownPath(file));
  return { text, key, servers };
}

/** All of it or nothing; a link stays one, and who could read the file before still can. */
function write(file: string, text: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  const place = before === undefined ? file : realpathSync(file);
  const partial = `${place}.${process.pid}.partial`;
  try {
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 });
    writeFileSync(partial, text, { mode: 0o600, flag: "wx" });
    if (before !== undefined) chmodSync(partial, before.mode);
    renameSync(partial, place);
  } catch (thrown) {
    if (existsSync(partial)) rmSync(partial);
    const { code, message } = thrown as NodeJS.ErrnoException;
    throw failed(`${shownPath(file)} could not be written (${code ?? message}).`);
  }
}

function show(
  candidates: readonly Candidate[],
  chosen: readonly Candidate[],
  { file, written, found }: { file: string; written: boolean; found: number },
  output: Output,
): void {
  const { green, yellow, red, dim } = output.colors;
  if (candidates.length === 0) {
    output.text(found === 0 ? "No servers of other applications were found." : "They have no servers.");
    return;
  }
  for (const each of candidates) {
    const takes = chosen.includes(each);
    const sign = takes
      ? green("+")
      : each.state === "same"
        ? "="
        : each.state === "conflict"
          ? yellow("!")
          : red("✗");
    const why = each.state === "same" ? "it is there already" : (each.why ?? "");
    const remedy =
      each.state === "conflict" && !takes && why.endsWith("there already") ? "; --overwrite replaces it" : "";
    output.styled(
      `${sign} ${visible(visibleName(each.name))}${why === "" ? "" : `: ${visible(why)}${remedy}`}`,
    );
    output.styled(dim(`    ${visibleLine(each.source.title)}: ${visibleLine(shownPath(each.source.file))}`));
    if (each.entry !== undefined && each.state !== "same")
      output.styled(dim(`    ${shownEntry(each.entry)}`));
    for (const { variable, at } of takes ? each.variables : [])
      output.styled(`    set ${visibleName(variable)}: its value stays in that file, at ${visibleLine(at)}`);
    for (const note of each.notes) output.styled(dim(`    ${visibleLine(note)}`));
  }
  const count = `${chosen.length} ${chosen.length === 1 ? "server" : "servers"}`;
  if (written) output.text(`${count} written to ${file}`);
  else if (chosen.length > 0) output.text(`Nothing is written yet: --write puts ${count} into ${file}`);
  else output.text("Nothing to take over.");
}

function shownEntry(entry: ServerEntry): string {
  return visibleLine("command" in entry ? [entry.command, ...(entry.args ?? [])].join(" ") : entry.url);
}
