/** What could be taken over of other applications' servers, and what stands in its way. */

import { posix, win32 } from "node:path";
import { readSmallFile } from "../file.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { JsonError, parseJson } from "./jsonc.ts";
import { isRecord, type Review, reviewEntry, type ServerEntry } from "./schema.ts";
import type { Machine, Source } from "./sources.ts";
import { type Moved, variableName, withoutValues } from "./variables.ts";

/** One server of another application. */
export interface Candidate {
  name: string;
  source: Source;
  /**
   * - `add`: nothing is in its way
   * - `same`: it is there already
   * - `conflict`: another server has its name; `why` says where
   * - `invalid`: it is nothing that can be connected to; `why` says what it lacks
   */
  state: "add" | "same" | "conflict" | "invalid";
  why?: string;
  /** As it would be written: no secret is in it. */
  entry?: ServerEntry;
  /** The variables that have to be set for it, and where their values are. */
  variables: Moved[];
  /** What of it is not taken. */
  notes: string[];
}

/** What was found. */
export interface ImportPlan {
  candidates: Candidate[];
  /** The places that there are, and why some of them could not be read. */
  found: Source[];
  problems: string[];
}

/**
 * Reads the sources. Of two that have a server of the same name and say different things, the first is taken.
 *
 * @param present the servers of the file that they would be written to
 */
export function planImport(
  sources: readonly Source[],
  present: ReadonlyMap<string, ServerEntry>,
  machine: Machine,
): ImportPlan {
  const plan: ImportPlan = { candidates: [], found: [], problems: [] };
  const taken = new Map<string, string>();
  const first = new Map<string, Candidate>();
  for (const source of sources) {
    const content = contentOf(source, plan);
    const entries = source.keys.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), content);
    if (!isRecord(entries)) continue;
    plan.found.push(source);
    const inputs = isRecord(content) && Array.isArray(content.inputs) ? content.inputs : [];
    for (const [name, entry] of Object.entries(entries)) {
      const read = candidate(name, entry, source, inputs, taken, machine);
      const settled = settle(read, first.get(name), present.get(name));
      if (settled === undefined) continue;
      plan.candidates.push(settled);
      if (settled.state !== "invalid" && !first.has(name)) first.set(name, settled);
    }
  }
  return plan;
}

function contentOf({ file, title }: Source, plan: ImportPlan): unknown {
  try {
    return parseJson(readSmallFile(file));
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const why = thrown instanceof JsonError ? `it is not JSON: ${visibleLine(message)}` : (code ?? message);
    plan.problems.push(`${title}: ${file}: ${why}`);
    return undefined;
  }
}

/** Where a candidate stands, seen with what is there; nothing when it is the same as an earlier one. */
function settle(
  read: Candidate,
  earlier: Candidate | undefined,
  present: ServerEntry | undefined,
): Candidate | undefined {
  if (read.state === "invalid") return read;
  if (earlier !== undefined) {
    if (isSame(earlier.entry, read.entry)) return undefined;
    const where = `${earlier.source.title} has another of that name (${earlier.source.file})`;
    return { ...read, state: "conflict", why: where };
  }
  if (present === undefined) return read;
  if (isSame(present, read.entry)) return { ...read, state: "same" };
  return { ...read, state: "conflict", why: "another of that name is there already" };
}

function candidate(
  name: string,
  written: unknown,
  source: Source,
  inputs: readonly unknown[],
  taken: Map<string, string>,
  machine: Machine,
): Candidate {
  const about = { name, source, variables: [], notes: [] };
  const review: Review = {
    key: "",
    servers: new Map(),
    inputs: new Map(),
    approvals: {},
    roots: [],
    errors: [],
    warnings: [],
  };
  reviewEntry(visibleName(name), name, written, review);
  const entry = review.servers.get(name);
  if (entry === undefined) return { ...about, state: "invalid", why: review.errors.join("; ") };
  const asked: Moved[] = [];
  const placed = atHome(withVariables(entry, inputs, asked) as ServerEntry, source, machine);
  const { entry: safe, moved } = withoutValues(name, placed, taken);
  const notes = review.warnings.map((warning) =>
    warning.replace(/ is unknown and ignored.*/s, " is left out"),
  );
  return { ...about, state: "add", entry: safe, variables: [...asked, ...moved], notes };
}

/** `${input:id}` → `${ID}`: what VS Code asks for is a variable here. */
function withVariables(value: unknown, inputs: readonly unknown[], asked: Moved[]): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\{input:([^}]+)\}/g, (_, id: string) => {
      const input = inputs.find((each) => isRecord(each) && each.id === id);
      const variable = variableName(id);
      const otherwise = isRecord(input) && typeof input.default === "string" ? input.default : undefined;
      if (otherwise === undefined) asked.push({ variable, at: `inputs: ${id}` });
      return otherwise === undefined ? `\${${variable}}` : `\${${variable}:-${otherwise}}`;
    });
  }
  if (Array.isArray(value)) return value.map((item) => withVariables(item, inputs, asked));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, withVariables(inner, inputs, asked)]),
  );
}

/** An entry of a project, so that it means the same in a file elsewhere. */
function atHome(entry: ServerEntry, { folder }: Source, { platform }: Machine): ServerEntry {
  if (folder === undefined) return entry;
  const { resolve } = platform === "win32" ? win32 : posix;
  const text = JSON.stringify(entry);
  const inside = JSON.stringify(folder).slice(1, -1);
  const placed: ServerEntry = JSON.parse(text.replace(/\$\{workspaceFolder\}/g, () => inside));
  if (!("command" in placed)) return placed;
  if (placed.envFile !== undefined) placed.envFile = resolve(folder, placed.envFile);
  return { ...placed, cwd: resolve(folder, placed.cwd ?? ".") };
}

function isSame(one: ServerEntry | undefined, other: ServerEntry | undefined): boolean {
  return sorted(one) === sorted(other);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    isRecord(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
