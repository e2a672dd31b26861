/** Text to a tool's arguments, by the tool's input schema: in order, or as `name=value`. */

import { isObject, type JsonSchema, parseJson } from "@patchbay/core";

export type Read = { arguments: Record<string, unknown> } | { problem: string };

interface Parameter {
  name: string;
  schema: JsonSchema;
  required: boolean;
}

/** One word, or a quoted piece; `start` is where it stands in the text. */
interface Token {
  raw: string;
  value: string;
  start: number;
}

/**
 * Reads arguments. `name=value` pairs come last and are told by the schema's own names; what stands before
 * them fills the required parameters in order, or the first one where none is required. A single text
 * parameter takes all of it, spaces included.
 */
export function readArguments(text: string, schema: JsonSchema): Read {
  const parameters = parametersOf(schema);
  const tokens = tokenize(text);
  let split = tokens.length;
  const given = new Map<string, string>();
  while (split > 0) {
    const pair = readPair(tokens[split - 1] as Token, parameters);
    if (pair === undefined || given.has(pair.name)) break;
    given.set(pair.name, pair.value);
    split--;
  }
  const rest = tokens.slice(0, split);
  const open = parameters.filter(({ name }) => !given.has(name));
  const required = open.filter((parameter) => parameter.required);
  const places = required.length > 0 ? required : open.slice(0, 1);
  if (rest.length > 0 && places.length === 0)
    return { problem: `takes no more arguments${usage(parameters)}` };
  if (places.length === 1 && rest.length > 0) {
    const whole = text.slice((rest[0] as Token).start, endOf(rest.at(-1) as Token)).trim();
    given.set((places[0] as Parameter).name, rest.length === 1 ? (rest[0] as Token).value : whole);
  } else {
    if (rest.length > places.length) {
      return { problem: `takes ${places.length} arguments here, and got ${rest.length}${usage(parameters)}` };
    }
    rest.forEach((token, index) => {
      given.set((places[index] as Parameter).name, token.value);
    });
  }
  return convertAll(given, parameters);
}

/** `city=… [days=…]`, as people type it. */
export function describeParameters(schema: JsonSchema): string {
  return parametersOf(schema)
    .slice(0, MAX_SHOWN)
    .map(({ name, required }) => (required ? `${shownName(name)}=…` : `[${shownName(name)}=…]`))
    .join(" ");
}

function usage(parameters: Parameter[]): string {
  return parameters.length === 0
    ? ""
    : ` (${parameters
        .slice(0, MAX_SHOWN)
        .map(({ name }) => shownName(name))
        .join(", ")})`;
}

const MAX_SHOWN = 30;

/** On one line, and short: a server chose it. */
function shownName(name: string): string {
  const line = name.slice(0, 200).replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function parametersOf(schema: JsonSchema): Parameter[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const all = Object.entries(properties).map(([name, value]) => ({
    name,
    schema: (isObject(value) ? value : {}) as JsonSchema,
    required: required.has(name),
  }));
  return [
    ...all.filter((parameter) => parameter.required),
    ...all.filter((parameter) => !parameter.required),
  ];
}

/** Words and quoted pieces, told apart by spaces, or by commas with a space after them. */
function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',]|["',](?!\s|$)|["'])+/g)) {
    tokens.push({ raw: match[0], value: unquote(match[0]), start: match.index });
  }
  return tokens;
}

function endOf(token: Token): number {
  return token.start + token.raw.length;
}

function readPair(token: Token, parameters: Parameter[]): { name: string; value: string } | undefined {
  const equals = token.raw.indexOf("=");
  const name = token.raw.slice(0, equals);
  if (equals < 1 || !parameters.some((parameter) => parameter.name === name)) return undefined;
  return { name, value: unquote(token.raw.slice(equals + 1)) };
}

function unquote(text: string): string {
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  if (/^"(?:[^"\\]|\\.)*"$/s.test(text)) return text.slice(1, -1).replace(/\\(["\\])/g, "$1");
  return text;
}

function convertAll(given: Map<string, string>, parameters: Parameter[]): Read {
  const converted: [string, unknown][] = [];
  for (const { name, schema, required } of parameters) {
    const text = given.get(name);
    if (text === undefined) {
      if (required) return { problem: `"${name}" is missing${usage(parameters)}` };
      continue;
    }
    const value = convert(text, schema);
    if (value === undefined) return { problem: `"${name}" takes ${expected(schema)}, not "${text}"` };
    converted.push([name, value.value]);
  }
  return { arguments: Object.fromEntries(converted) };
}

/** The text as the first of the schema's types that it can be; a text parameter takes it as it is. */
function convert(text: string, schema: JsonSchema): { value: unknown } | undefined {
  const options = schema.enum;
  if (Array.isArray(options)) {
    const chosen = options.find((option) => String(option) === text);
    return chosen === undefined ? undefined : { value: chosen };
  }
  for (const type of typesOf(schema)) {
    const value = convertTo(type, text);
    if (value !== undefined) return value;
  }
  return undefined;
}

function convertTo(type: string, text: string): { value: unknown } | undefined {
  switch (type) {
    case "string":
      return { value: text };
    case "number":
    case "integer": {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      return Number.isFinite(value) && (type === "number" || Number.isInteger(value)) ? { value } : undefined;
    }
    case "boolean":
      return text === "true" ? { value: true } : text === "false" ? { value: false } : undefined;
    case "null":
      return text === "null" ? { value: null } : undefined;
    case "array": {
      const value = json(text);
      return Array.isArray(value) ? { value } : undefined;
    }
    case "object": {
      const value = json(text);
      return isObject(value) ? { value } : undefined;
    }
    default:
      return { value: json(text) ?? text };
  }
}

/** The types a schema allows, text last, for text is what everything else could be too; `any` when it says none. */
function typesOf(schema: JsonSchema, depth = 0): string[] {
  const branches = schema.anyOf ?? schema.oneOf;
  const types = Array.isArray(branches)
    ? branches
        .slice(0, 100)
        .flatMap((branch) => (isObject(branch) && depth < 4 ? typesOf(branch as JsonSchema, depth + 1) : []))
    : [schema.type ?? "any"].flat();
  const each = [...new Set(types)];
  return [...each.filter((type) => type !== "string"), ...each.filter((type) => type === "string")];
}

function expected(schema: JsonSchema): string {
  if (Array.isArray(schema.enum))
    return `one of ${schema.enum.map((option) => JSON.stringify(option)).join(", ")}`;
  const names: Record<string, string> = {
    integer: "a whole number",
    number: "a number",
    boolean: "true or false",
    array: "a JSON array",
    object: "a JSON object",
  };
  return typesOf(schema)
    .map((type) => names[type] ?? type)
    .join(" or ");
}

function json(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
