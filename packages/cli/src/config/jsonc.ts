/** JSON as VS Code writes it: with comments and trailing commas. */

/** Where something stands in a text: both count from 1. */
interface Place {
  line: number;
  column: number;
}

/** What is wrong with a text that is no JSON. `place` is where, if it is known. */
export class JsonError extends Error {
  readonly place: Place | undefined;

  constructor(message: string, place: Place | undefined) {
    super(message);
    this.name = "JsonError";
    this.place = place;
  }
}

/**
 * Reads JSON that may have comments, trailing commas and a byte order mark.
 *
 * @throws JsonError with the place
 */
export function parseJson(text: string): unknown {
  const plain = plainJson(text);
  try {
    return JSON.parse(plain);
  } catch (thrown) {
    // Node quotes the text around, which may hold a secret, and does not always say where it is.
    const what = (thrown as Error).message.replace(
      /(?:, \.{0,3}"|\s+in JSON|\s+is not valid JSON|\s+\(line).*$/s,
      "",
    );
    throw new JsonError(what, placeOf(plain));
  }
}

const TOKEN = /\s*("(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:])/y;

/** Where a text stops to be JSON: it is read token by token, and what may come next is known. */
function placeOf(plain: string): Place {
  const open: string[] = [];
  let expected = "value";
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const [whole = "", token = ""] = TOKEN.exec(plain) ?? [];
    const next = after(token, expected, open);
    if (next === undefined) break;
    expected = next;
    at += whole.length;
  }
  const end = at + spaceAt(plain, at);
  const before = plain.slice(0, end < plain.length ? end : plain.trimEnd().length).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** What is expected after a token; nothing when it is not the one that was. */
function after(token: string, expected: string, open: string[]): string | undefined {
  const inside = open.at(-1);
  if (token === "") return undefined;
  if (token === "}" || token === "]") {
    const fits = expected === "comma" || expected === (token === "}" ? "key or end" : "value or end");
    if (!fits || inside !== (token === "}" ? "{" : "[")) return undefined;
    open.pop();
    return "comma";
  }
  if (token === ",") {
    if (expected !== "comma" || inside === undefined) return undefined;
    return inside === "{" ? "key" : "value";
  }
  if (token === ":") return expected === "colon" ? "value" : undefined;
  if (expected.startsWith("key")) return token.startsWith('"') ? "colon" : undefined;
  if (!expected.startsWith("value")) return undefined;
  if (token !== "{" && token !== "[") return "comma";
  open.push(token);
  return token === "{" ? "key or end" : "value or end";
}

const STRING = /"(?:[^"\\\n]|\\.)*"?/.source;
const COMMENTS = new RegExp(`${STRING}|//[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$)|^\\uFEFF`, "g");
const TRAILING_COMMAS = new RegExp(`${STRING}|,(?=\\s*[}\\]])`, "g");

/** The same text in plain JSON; each character stays where it is. */
function plainJson(text: string): string {
  return blank(withoutComments(text), TRAILING_COMMAS);
}

function withoutComments(text: string): string {
  return blank(text, COMMENTS);
}

/** Puts spaces in place of what is found, but for strings. */
function blank(text: string, parts: RegExp): string {
  return text.replace(parts, (part) => (part.startsWith('"') ? part : part.replace(/[^\n]/g, " ")));
}

/** A member of an object, as it stands in a text: from its key to the end of its value. */
interface Member {
  key: string;
  start: number;
  /** Where its value begins. */
  value: number;
  end: number;
}

/**
 * Puts members into an object that is itself a member of the outermost one, and leaves all else as it is, comments too.
 * A member that is there already is replaced; the object is added where there is none.
 *
 * @param text the text of an object, with comments or without
 * @param name the inner object's key
 */
export function withMembers(text: string, name: string, members: Readonly<Record<string, unknown>>): string {
  const plain = plainJson(text);
  const outer = membersAt(plain, plain.indexOf("{"));
  const inner = outer.find((member) => member.key === name);
  if (inner === undefined) return inserted(text, plain, plain.indexOf("{"), outer, { [name]: members });
  const present = membersAt(plain, inner.value);
  const places = new Map(present.map((member) => [member.key, member]));
  const wanted = new Map(Object.entries(members));
  const more = Object.fromEntries([...wanted].filter(([key]) => !places.has(key)));
  // What comes later is changed first: what stands before it stays where it is.
  let edited = Object.keys(more).length === 0 ? text : inserted(text, plain, inner.value, present, more);
  for (const old of [...places.values()].reverse()) {
    if (!wanted.has(old.key)) continue;
    const value = indented(wanted.get(old.key), indentAt(text, old.start));
    edited = edited.slice(0, old.value) + value + edited.slice(old.end);
  }
  return edited;
}

/** The text with more members at the end of the object that opens at `open`. */
function inserted(
  text: string,
  plain: string,
  open: number,
  present: Member[],
  members: Readonly<Record<string, unknown>>,
): string {
  const last = present.at(-1);
  const indent = last === undefined ? `${indentAt(text, open)}  ` : indentAt(text, last.start);
  const member = Object.entries(members)
    .map(([key, value]) => `\n${indent}${JSON.stringify(key)}: ${indented(value, indent)}`)
    .join(",");
  const at = last?.end ?? open + 1;
  const rest = text.slice(at);
  if (last === undefined) {
    const closing = /^\s*\}/.test(plain.slice(at)) ? `\n${indentAt(text, open)}` : "";
    return text.slice(0, at) + member + closing + rest.trimStart();
  }
  // A trailing comma serves as the one that is needed now; what is said of the last member stays on its line.
  const comma = /^\s*,/.exec(withoutComments(text).slice(at))?.[0];
  const behind = rest.slice(comma?.length ?? 0);
  const remark = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/)?/.exec(behind)?.[0] ?? "";
  const kept = comma === undefined ? "," : rest.slice(0, comma.length);
  return text.slice(0, at) + kept + remark.trimEnd() + member + behind.slice(remark.length);
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", offset - 1) + 1))?.[0] ?? "";
}

function indented(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
}

/** The members of the object that opens at `open` in plain, valid JSON. */
function membersAt(plain: string, open: number): Member[] {
  const members: Member[] = [];
  let depth = 0;
  let member: Member | undefined;
  for (let at = open; at < plain.length; at++) {
    const sign = plain[at] as string;
    if (sign === '"') {
      const end = endOfString(plain, at);
      if (depth === 1 && member === undefined) {
        member = { key: JSON.parse(plain.slice(at, end)) as string, start: at, value: -1, end };
      } else if (member !== undefined && depth === 1) member.end = end;
      at = end - 1;
    } else if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") {
      depth--;
      if (depth === 1 && member !== undefined) member.end = at + 1;
    } else if (depth === 1 && sign === "," && member !== undefined) {
      members.push(member);
      member = undefined;
    } else if (depth === 1 && /[\w.+-]/.test(sign) && member !== undefined) member.end = at + 1;
    else if (depth === 1 && sign === ":" && member?.value === -1)
      member.value = at + 1 + spaceAt(plain, at + 1);
    if (depth === 0) break;
  }
  if (member !== undefined) members.push(member);
  return members;
}

function spaceAt(text: string, at: number): number {
  return /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
