/** What a server asks the user, asked on the terminal: a form field by field, or a page to visit. */

import type { Writable } from "node:stream";
import { type ElicitParams, type ElicitResult, isObject, type JsonObject } from "@patchbay/core";
import { type Ask, dialog, type Terminal } from "./dialog.ts";
import { visible, visibleLine } from "./visible.ts";

/**
 * Asks the user what a server wants to know. Who answers `n` has declined; who closes the input, or interrupts,
 * has cancelled.
 *
 * @param server as the user knows it: they should see who asks
 */
export function askUser(
  server: string,
  params: ElicitParams,
  signal: AbortSignal,
  terminal?: Terminal,
): Promise<ElicitResult> {
  const talk = async (ask: Ask, output: Writable): Promise<ElicitResult> => {
    output.write(`\n${visibleLine(server)} asks: ${visible(params.message)}\n`);
    if (params.mode === "url") {
      output.write(`  ${visibleLine(params.url)}\n`);
      const agreed = await agrees("  Open this page, then press Enter (n to decline): ", ask);
      return { action: agreed ? "accept" : "decline" };
    }
    if (!(await agrees("  Answer? [Y/n] ", ask))) return { action: "decline" };
    return { action: "accept", content: await fillIn(params.requestedSchema, ask, output) };
  };
  return dialog<ElicitResult>(signal, { action: "cancel" }, talk, terminal);
}

type Content = NonNullable<ElicitResult["content"]>;

/** Nothing but yes is taken for yes: who types an answer too early has not agreed to give it. */
async function agrees(question: string, ask: Ask): Promise<boolean> {
  for (;;) {
    const typed = await ask(question);
    if (typed.trim() === "" || isYes(typed)) return true;
    if (isNo(typed)) return false;
  }
}

async function fillIn(schema: JsonObject | object, ask: Ask, output: Writable): Promise<Content> {
  const { properties, required = [] } = schema as JsonObject;
  const content: Content = {};
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(property)) continue;
    const needed = Array.isArray(required) && required.includes(name);
    for (;;) {
      const typed = (await ask(`  ${label(name, property, needed)}: `)).trim();
      if (typed === "" && property.default !== undefined) {
        content[name] = property.default as Content[string];
        break;
      }
      if (typed === "" && !needed) break;
      const value = read(typed, property);
      if (value !== undefined) {
        content[name] = value;
        break;
      }
      output.write(`    ${typed === "" ? "This is needed." : `This must be ${expected(property)}.`}\n`);
    }
  }
  return content;
}

function label(name: string, property: JsonObject, needed: boolean): string {
  const title = visibleLine(String(property.title ?? name));
  const about = property.description === undefined ? "" : ` – ${visibleLine(String(property.description))}`;
  const notes = [expected(property)];
  if (property.default !== undefined) notes.push(`Enter for ${JSON.stringify(property.default)}`);
  else if (!needed) notes.push("Enter for none");
  return `${title}${about} (${notes.join("; ")})`;
}

function expected(property: JsonObject): string {
  const choices = choicesOf(property);
  if (choices !== undefined) {
    const listed = choices
      .map(({ value, title }) => (title === value ? value : `${value}: ${title}`))
      .join(", ");
    return property.type === "array" ? `some of ${listed}, with commas between` : `one of ${listed}`;
  }
  switch (property.type) {
    case "boolean":
      return "yes or no";
    case "integer":
      return "a whole number";
    case "number":
      return "a number";
    default:
      return typeof property.format === "string" ? `text: ${property.format}` : "text";
  }
}

/** The value that was typed; nothing when it is none of this type. The client checks the rest of the schema. */
function read(typed: string, property: JsonObject): Content[string] {
  const choices = choicesOf(property)?.map(({ value }) => value);
  if (property.type === "array") {
    const values = typed.split(",").map((each) => each.trim());
    return values.every((each) => choices?.includes(each) !== false) ? values : undefined;
  }
  if (choices !== undefined) return choices.includes(typed) ? typed : undefined;
  if (property.type === "boolean") return isYes(typed) ? true : isNo(typed) ? false : undefined;
  if (property.type !== "number" && property.type !== "integer") return typed === "" ? undefined : typed;
  const value = Number(typed);
  const fits =
    typed !== "" && Number.isFinite(value) && (property.type === "number" || Number.isInteger(value));
  return fits ? value : undefined;
}

function choicesOf(property: JsonObject): { value: string; title: string }[] | undefined {
  const of = property.type === "array" && isObject(property.items) ? property.items : property;
  if (Array.isArray(of.enum)) return of.enum.map((value) => ({ value: String(value), title: String(value) }));
  const titled = of.oneOf ?? of.anyOf;
  if (!Array.isArray(titled)) return undefined;
  return titled.filter(isObject).map((choice) => ({
    value: String(choice.const),
    title: visibleLine(String(choice.title ?? choice.const)),
  }));
}

const isYes = (typed: string) => /^(y|yes|true)$/i.test(typed.trim());
const isNo = (typed: string) => /^(n|no|false)$/i.test(typed.trim());
