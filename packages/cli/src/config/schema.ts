/** The form of `mcp.json`: what a server's entry may say. */

import { nearest } from "@patchbay/core";
import { z } from "zod";
import { MAX_MILLISECONDS } from "../context.ts";
import { visibleLine, visibleName } from "../visible.ts";

const Texts = z.record(z.string(), z.string());

const Started = z.object({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: Texts.optional(),
  envFile: z.string().min(1).optional(),
  cwd: z.string().optional(),
  timeout: z.number().int().positive().max(MAX_MILLISECONDS).optional(),
  disabled: z.boolean().optional(),
});

const Reached = z.object({
  url: z.string().min(1),
  headers: Texts.optional(),
  timeout: z.number().int().positive().max(MAX_MILLISECONDS).optional(),
  disabled: z.boolean().optional(),
});

const AskedFor = z.object({
  id: z.string().min(1),
  type: z.enum(["promptString", "pickString"]),
  description: z.string().optional(),
  default: z.string().optional(),
  password: z.boolean().optional(),
  options: z.array(z.string()).min(1).optional(),
});

/** Which tools may run without asking, and which never; patterns over `server/tool`. */
const Approvals = z.strictObject({
  allow: z.array(z.string()).optional(),
  ask: z.array(z.string()).optional(),
  deny: z.array(z.string()).optional(),
});

/** Folders in which servers may work. */
const Roots = z.array(z.string().min(1));

/** A server that is started as a child and spoken to over stdio. */
export type StartedServer = z.infer<typeof Started>;
/** A server that is reached at a URL. */
export type ReachedServer = z.infer<typeof Reached>;
export type ServerEntry = StartedServer | ReachedServer;
/** What the user is asked for where `${input:id}` stands. */
export type Input = z.infer<typeof AskedFor>;

const STARTED_KEYS = Object.keys(Started.shape);
const REACHED_KEYS = Object.keys(Reached.shape);
/** What may stand beside the servers. */
const BESIDE = ["$schema", "inputs", "approvals", "roots"];
const TYPES = ["stdio", "http", "streamable-http", "sse"];

/** What is wrong with a configuration, each with its place in the file; and what is only odd. */
export interface Review {
  /** The key that holds them: `mcpServers`, or VS Code's `servers`. */
  key: string;
  servers: Map<string, ServerEntry>;
  inputs: Map<string, Input>;
  approvals: z.infer<typeof Approvals>;
  roots: string[];
  errors: string[];
  warnings: string[];
}

/** Checks a whole configuration file. `servers` (VS Code) is taken for `mcpServers`, and `type` is allowed. */
export function review(content: unknown): Review {
  const found: Review = {
    key: "mcpServers",
    servers: new Map(),
    inputs: new Map(),
    approvals: {},
    roots: [],
    errors: [],
    warnings: [],
  };
  if (!isRecord(content)) {
    found.errors.push('the file must be a JSON object: {"mcpServers": {…}}');
    return found;
  }
  const key = "mcpServers" in content ? "mcpServers" : "servers" in content ? "servers" : undefined;
  for (const other of Object.keys(content)) {
    if (other === key || BESIDE.includes(other)) continue;
    found.warnings.push(unknown(visibleName(other), other, ["mcpServers", "approvals", "roots"]));
  }
  if (key === undefined) {
    const near = nearest("mcpServers", Object.keys(content));
    found.errors.push(
      `"mcpServers" is missing${near === undefined ? "" : `; rename "${visibleName(near)}"`}`,
    );
    return found;
  }
  found.key = key;
  reviewInputs(content.inputs, found);
  reviewPolicy(content, found);
  const entries = content[key];
  if (!isRecord(entries)) found.errors.push(`${key} must be an object: a server's name → its entry`);
  else
    for (const [name, entry] of Object.entries(entries))
      reviewEntry(`${key}.${visibleName(name)}`, name, entry, found);
  return found;
}

function reviewPolicy({ approvals = {}, roots = [] }: Record<string, unknown>, found: Review): void {
  const rules = Approvals.safeParse(approvals);
  if (rules.success) found.approvals = rules.data;
  else found.errors.push(...issuesOf("approvals", rules.error));
  const folders = Roots.safeParse(roots);
  if (folders.success) found.roots = folders.data;
  else found.errors.push(...issuesOf("roots", folders.error));
}

function reviewInputs(inputs: unknown = [], found: Review): void {
  if (!Array.isArray(inputs)) {
    found.errors.push("inputs must be an array");
    return;
  }
  for (const [index, input] of inputs.entries()) {
    const checked = AskedFor.safeParse(input);
    if (checked.success) found.inputs.set(checked.data.id, checked.data);
    // What no server of ours asks for need not be understood: it is missed where it is used.
    else found.warnings.push(`${issuesOf(`inputs[${index}]`, checked.error).join("; ")}; it is ignored`);
  }
}

/** Checks one server's entry. What is wrong with it, and what is odd, is added to `found`. */
export function reviewEntry(place: string, name: string, entry: unknown, found: Review): void {
  if (!isRecord(entry)) {
    found.errors.push(`${place} must be an object with "command" or "url"`);
    return;
  }
  const started = "command" in entry;
  if (started === "url" in entry) {
    const near = nearestKey(entry);
    found.errors.push(
      started
        ? `${place} has both "command" and "url": keep one`
        : `${place} needs "command" (a program to start) or "url"${near === undefined ? "" : `; it has "${visibleName(near)}"`}`,
    );
    return;
  }
  const keys = started ? STARTED_KEYS : REACHED_KEYS;
  for (const key of Object.keys(entry)) {
    if (keys.includes(key)) continue;
    if (key === "type" && TYPES.includes(String(entry.type))) continue;
    found.warnings.push(unknown(`${place}.${visibleName(key)}`, key, keys));
  }
  const checked = (started ? Started : Reached).safeParse(entry);
  if (checked.success) found.servers.set(name, checked.data);
  else found.errors.push(...issuesOf(place, checked.error));
}

function issuesOf(place: string, { issues }: z.ZodError): string[] {
  return issues.map(
    ({ path, message }) =>
      `${[place, ...path.map((step) => visibleName(String(step)))].join(".")}: ${visibleLine(lowerFirst(message))}`,
  );
}

function unknown(place: string, key: string, known: string[]): string {
  const near = nearest(key, known);
  return `${place} is unknown and ignored${near === undefined ? "" : `; did you mean "${near}"?`}`;
}

function nearestKey(entry: Record<string, unknown>): string | undefined {
  return nearest("command", Object.keys(entry)) ?? nearest("url", Object.keys(entry));
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** True for an object that is no array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
