/** One field of a server's form: how it is asked for, and what of the typed text is its value. */

import { type ElicitResult, isObject, type JsonObject, type JsonValue, type Validate } from "@patchbay/core";
import type { Completer } from "./dialog.ts";
import { hiddenIn, spelled, visibleLine } from "./visible.ts";

export type FieldValue = NonNullable<ElicitResult["content"]>[string];

export interface Field {
  name: string;
  /** Lines above the question: what may be chosen. */
  choices: string[];
  question: string;
  /** Of the schema; what Enter alone gives. */
  otherwise: FieldValue | undefined;
  needed: boolean;
  /** The value that was typed, or what is wrong with it. */
  read(typed: string): { value: FieldValue } | { wrong: string };
  complete: Completer;
}

interface Choice {
  value: string;
  title: string;
}

const MAX_CHOICES = 200;

/**
 * @param check the rest of the schema, for this field
 * @param before what was answered already: Enter keeps it
 */
export function fieldOf(
  name: string,
  property: JsonObject,
  { needed, check, before }: { needed: boolean; check: Validate; before?: FieldValue | undefined },
): Field {
  const choices = choicesOf(property);
  const otherwise = before ?? (property.default as FieldValue | undefined);
  const notes = [expected(property, choices), ...bounds(property)];
  if (otherwise !== undefined) notes.push(`Enter for ${shownValue(otherwise)}`);
  else if (!needed) notes.push("Enter for none");
  const title = visibleLine(String(property.title ?? name));
  const about = property.description === undefined ? "" : ` – ${visibleLine(String(property.description))}`;
  return {
    name,
    needed,
    otherwise,
    question: `${title}${about} (${notes.join("; ")})`,
    choices: (choices ?? [])
      .slice(0, MAX_CHOICES)
      .map((choice, index) => `${index + 1}. ${shownChoice(choice)}`),
    complete: async (line) => {
      const last = property.type === "array" ? (/[^,]*$/.exec(line)?.[0].trimStart() ?? "") : line;
      const words = property.type === "boolean" ? ["yes", "no"] : (choices ?? []).map(({ value }) => value);
      return [words.filter((word) => word.startsWith(last) && hiddenIn(word) === 0), last];
    },
    read: (typed) => {
      const value = parsed(typed, property, choices);
      if (value === undefined) return { wrong: `This must be ${expected(property, choices)}.` };
      const wrong = check(value)?.[0]?.message ?? formatIssue(value, property.format);
      return wrong === undefined ? { value } : { wrong: `This ${wrong}.` };
    },
  };
}

/** A value as the user would type it. */
export function shownValue(value: JsonValue | FieldValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map((each) => spelled(String(each))).join(", ");
  return spelled(String(value));
}

function shownChoice({ value, title }: Choice): string {
  return title === value ? spelled(value) : `${spelled(value)}: ${visibleLine(title)}`;
}

function expected({ type, format }: JsonObject, choices: Choice[] | undefined): string {
  if (choices !== undefined) {
    const names =
      choices.length <= 6
        ? choices.map(({ value }) => spelled(value)).join(", ")
        : `the ${choices.length} above`;
    return type === "array" ? `some of ${names}, with commas between` : `one of ${names}`;
  }
  switch (type) {
    case "array":
      return "texts, with commas between";
    case "boolean":
      return "yes or no";
    case "integer":
      return "a whole number";
    case "number":
      return "a number";
    default:
      return typeof format === "string"
        ? (FORMATS.get(format)?.what ?? `text: ${visibleLine(format)}`)
        : "text";
  }
}

/** What else there is to know before one types. */
function bounds({ minimum, maximum, minLength, maxLength, minItems, maxItems }: JsonObject): string[] {
  const range = (least: unknown, most: unknown, unit: string) => {
    const from = typeof least === "number" ? `at least ${least}` : "";
    const to = typeof most === "number" ? `at most ${most}` : "";
    const both = [from, to].filter(Boolean).join(" and ");
    return both === "" ? [] : [`${both}${unit}`];
  };
  return [
    ...range(minimum, maximum, ""),
    ...range(minLength, maxLength, " characters"),
    ...range(minItems, maxItems, " of them"),
  ];
}

function parsed(typed: string, { type }: JsonObject, choices: Choice[] | undefined): FieldValue | undefined {
  if (type === "array") {
    const values = typed
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "")
      .map((each) => (choices === undefined ? each : chosen(each, choices)));
    return values.some((each) => each === undefined) ? undefined : [...new Set(values as string[])];
  }
  if (choices !== undefined) return chosen(typed, choices);
  if (type === "boolean") return isYes(typed) ? true : isNo(typed) ? false : undefined;
  if (type !== "number" && type !== "integer") return typed === "" ? undefined : typed;
  const value = Number(typed);
  const fits = typed !== "" && Number.isFinite(value) && (type === "number" || Number.isInteger(value));
  return fits ? value : undefined;
}

/** By its value, its title, or its number in the list: in this order, for a value may look like a number. */
function chosen(typed: string, choices: Choice[]): string | undefined {
  const wanted = typed.toLowerCase();
  const found =
    choices.find(({ value }) => value === typed) ??
    choices.find(({ value, title }) => [value, title].some((each) => each.toLowerCase() === wanted)) ??
    (/^\d+$/.test(typed) ? choices[Number(typed) - 1] : undefined);
  return found?.value;
}

function choicesOf(property: JsonObject): Choice[] | undefined {
  const of = property.type === "array" && isObject(property.items) ? property.items : property;
  if (Array.isArray(of.enum)) {
    // `enumNames`: what titles were before 2025-11-25.
    const names = Array.isArray(of.enumNames) ? of.enumNames : [];
    return of.enum.map((value, index) => ({ value: String(value), title: String(names[index] ?? value) }));
  }
  const titled = of.oneOf ?? of.anyOf;
  if (!Array.isArray(titled)) return undefined;
  return titled.filter(isObject).map((choice) => ({
    value: String(choice.const),
    title: String(choice.title ?? choice.const),
  }));
}

/** The formats of the specification (client/elicitation § Requested Schema). */
const FORMATS = new Map<string, { what: string; test: (text: string) => boolean }>([
  ["email", { what: "an e-mail address", test: (text) => /^[^\s@]+@[^\s@]+$/.test(text) }],
  ["uri", { what: "a URL", test: (text) => URL.canParse(text) }],
  ["date", { what: "a date, as 2026-11-30", test: isDate }],
  [
    "date-time",
    {
      what: "a date and a time, as 2026-11-30T18:00:00Z",
      test: (text) =>
        /^[\d-]{10}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.test(text) &&
        isDate(text.slice(0, 10)) &&
        !Number.isNaN(Date.parse(text)),
    },
  ],
]);

function formatIssue(value: FieldValue, format: unknown): string | undefined {
  const known = typeof format === "string" && typeof value === "string" ? FORMATS.get(format) : undefined;
  return known === undefined || known.test(String(value)) ? undefined : `must be ${known.what}`;
}

function isDate(text: string): boolean {
  const parsed = new Date(`${text}T00:00:00Z`);
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(text) &&
    !Number.isNaN(parsed.getTime()) &&
    parsed.toISOString().startsWith(text)
  );
}

export const isYes = (typed: string) => /^(y|yes|true)$/i.test(typed.trim());
export const isNo = (typed: string) => /^(n|no|false)$/i.test(typed.trim());
