/** The tools of the host's own: to search for tools, and to read on in a long result. */

import type { JsonObject, JsonSchema, Tool } from "@patchbay/core";
import type { OfferedTool } from "./catalog.ts";
import { descriptionOf } from "./definitions.ts";
import { type KeptResults, passage } from "./kept.ts";
import { ownOutcome, type ToolOutcome } from "./outcome.ts";
import { READ_MORE, SEARCH_TOOLS } from "./own-names.ts";
import type { ToolSearch } from "./search.ts";
import { delimit } from "./untrusted.ts";

/** A tool that is no server's: it reads what the host has, and changes nothing. */
export interface OwnTool {
  name: string;
  tool: Tool;
  schema: JsonSchema;
}

const MAX_FOUND = 20;
const USUALLY_FOUND = 8;
const MAX_SERVERS = 30;
const MAX_LINE = 200;

export const readMoreTool: OwnTool = own(
  READ_MORE,
  "Reads on in a tool result that was cut. It is faster to look for a text than to read all of it.",
  {
    handle: { type: "string", description: "As the cut result names it." },
    from: { type: "integer", minimum: 0, description: "The character to begin at. Default 0." },
    find: { type: "string", description: "Begin at the next place that holds this text, capitals or not." },
  },
  ["handle"],
);

/** The search as a model is told of it: with what there is to be found. */
export function searchTool(hidden: readonly OfferedTool[]): OwnTool {
  const servers = new Map<string, number>();
  for (const { server } of hidden) servers.set(server, (servers.get(server) ?? 0) + 1);
  const named = [...servers].slice(0, MAX_SERVERS).map(([server, count]) => `${server} (${count})`);
  const more = servers.size > MAX_SERVERS ? ` and ${servers.size - MAX_SERVERS} more` : "";
  return own(
    SEARCH_TOOLS,
    `Finds tools by what they are for; those that it finds can then be called. Search before you say that something ` +
      `cannot be done: there are ${hidden.length} tools, of these servers: ${named.join(", ")}${more}.`,
    {
      query: { type: "string", description: "What the tool should do, in a few words of English." },
      limit: { type: "integer", minimum: 1, maximum: MAX_FOUND, description: `Default ${USUALLY_FOUND}.` },
    },
    ["query"],
  );
}

function own(name: string, description: string, properties: object, required: string[]): OwnTool {
  const schema = { type: "object", properties, required };
  const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
  return { name, tool: { name, description, inputSchema: schema, annotations }, schema };
}

export interface OwnSurroundings {
  results: KeptResults;
  search: ToolSearch;
  maxResultCharacters: number;
}

/** Runs an own tool with arguments that fit its schema. */
export async function runOwnTool(
  call: { id: string; name: string },
  args: JsonObject,
  surroundings: OwnSurroundings,
): Promise<ToolOutcome> {
  return call.name === READ_MORE ? readOn(call, args, surroundings) : await find(call, args, surroundings);
}

function readOn(
  call: { id: string; name: string },
  { handle, from = 0, find }: JsonObject,
  { results, maxResultCharacters }: OwnSurroundings,
): ToolOutcome {
  const fail = (reason: string) => ownOutcome(call, `Error: ${reason}`, { isError: true });
  const kept = results.get(String(handle));
  if (kept === undefined) {
    return fail(`nothing is kept as "${handle}" any more; call the tool that gave it again.`);
  }
  const { text: whole, server, untrusted } = kept;
  const start = Math.min(Number(from), whole.length);
  const at = typeof find === "string" && find !== "" ? indexOf(whole, find, start) : start;
  if (at === -1)
    return fail(`"${String(find).slice(0, MAX_LINE)}" is not in ${handle} after character ${start}.`);
  if (at >= whole.length) return fail(`${handle} ends at character ${whole.length}.`);
  // What stands before a place often says what it is about.
  const begin = at > start ? Math.max(start, at - Math.floor(maxResultCharacters / 10)) : at;
  const { text, from: first, to } = passage(whole, begin, maxResultCharacters);
  const rest = to < whole.length ? `; from ${to} reads on` : "; this is the end";
  const note = `[${handle}: characters ${first} to ${to} of ${whole.length}${rest}]`;
  const plain = `${text}\n${note}`;
  const shown = untrusted ? `${delimit(text, server)}\n${note}` : plain;
  return { ...ownOutcome(call, shown, { untrusted }), plain };
}

function indexOf(text: string, wanted: string, from: number): number {
  const exact = text.indexOf(wanted, from);
  return exact !== -1 ? exact : text.toLowerCase().indexOf(wanted.toLowerCase(), from);
}

async function find(
  call: { id: string; name: string },
  { query, limit = USUALLY_FOUND }: JsonObject,
  { search }: OwnSurroundings,
): Promise<ToolOutcome> {
  const found = await search.search(String(query), Math.min(Number(limit), MAX_FOUND));
  if (found.length === 0) {
    return ownOutcome(
      call,
      `No tool fits "${String(query).slice(0, MAX_LINE)}". Try other words, in English.`,
    );
  }
  const lines = found.map(({ name, server, tool }) => {
    const [line = ""] = descriptionOf(tool).split("\n");
    return `- ${name} (${server}): ${line.slice(0, MAX_LINE)}`;
  });
  return ownOutcome(call, `These can be called now:\n${lines.join("\n")}`, {
    found: found.map(({ name }) => name),
  });
}
