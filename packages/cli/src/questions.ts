/** What a server asks the user, asked on the terminal: a form field by field, or a page to visit. */

import type { Writable } from "node:stream";
import {
  type ElicitParams,
  type ElicitResult,
  isObject,
  type JsonObject,
  type JsonSchema,
  type Validate,
} from "@patchbay/core";
import { type Ask, dialog, type Terminal } from "./dialog.ts";
import { type Field, type FieldValue, fieldOf, isNo, isYes, shownValue } from "./form-field.ts";
import { spelled, visible, visibleLine } from "./visible.ts";

export interface Asking {
  terminal?: Terminal;
  /** Opens a page in a browser; whether there was one. */
  open?: (url: string) => Promise<boolean>;
}

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
  { terminal, open = openPage }: Asking = {},
): Promise<ElicitResult> {
  const talk = async (ask: Ask, output: Writable): Promise<ElicitResult> => {
    output.write(`\n${visibleLine(spelled(server))} asks: ${visible(params.message)}\n`);
    if (params.mode === "url") return askToVisit(params.url, ask, output, open);
    if (!(await agrees("  Answer? [Y/n] ", ask))) return { action: "decline" };
    const content = await fillIn(params.requestedSchema as JsonObject, ask, output);
    return content === undefined ? { action: "decline" } : { action: "accept", content };
  };
  return dialog<ElicitResult>(signal, { action: "cancel" }, talk, terminal);
}

async function openPage(url: string): Promise<boolean> {
  const { openUrl } = await import("@patchbay/client/oauth");
  return openUrl(url);
}

/** Shown whole, with its host apart: that is whom the user would trust. Nothing is fetched, and nothing opened unasked. */
async function askToVisit(
  url: string,
  ask: Ask,
  output: Writable,
  open: NonNullable<Asking["open"]>,
): Promise<ElicitResult> {
  output.write(`  ${spelled(url)}\n`);
  if (URL.canParse(url)) output.write(`  That is a page of ${new URL(url).host}.\n`);
  for (;;) {
    const typed = (
      await ask("  [o]pens it in your browser, Enter when you have opened it yourself, [n]o: ")
    ).trim();
    if (typed === "" || isYes(typed)) return { action: "accept" };
    if (isNo(typed)) return { action: "decline" };
    if (!/^o(pen)?$/i.test(typed)) continue;
    if (await open(url).catch(() => false)) return { action: "accept" };
    output.write("  There is no browser here: open it yourself.\n");
  }
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

/** All fields, until the user sends what they have typed; nothing where they do not. */
async function fillIn(schema: JsonObject, ask: Ask, output: Writable): Promise<Content | undefined> {
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {}).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]),
  );
  if (properties.length === 0) return {};
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const checks = await checksOf(properties);
  let content: Content = {};
  for (;;) {
    const before = content;
    content = {};
    for (const [index, [name, property]] of properties.entries()) {
      const needed = required.includes(name);
      const check = checks[index] as Validate;
      const value = await askField(
        fieldOf(name, property, { needed, check, before: before[name] }),
        ask,
        output,
      );
      if (value !== undefined) content[name] = value;
    }
    output.write("  Your answer:\n");
    for (const [name, value] of Object.entries(content))
      output.write(`    ${visibleLine(spelled(name))}: ${shownValue(value)}\n`);
    const typed = await askUntil(ask, "  Send it? [Y]es, [c]hange, [n]o: ", /^(|y|yes|c|change|n|no)$/i);
    if (isNo(typed)) return undefined;
    if (typed === "" || isYes(typed)) return content;
  }
}

async function askUntil(ask: Ask, question: string, fits: RegExp): Promise<string> {
  for (;;) {
    const typed = (await ask(question)).trim();
    if (fits.test(typed)) return typed;
  }
}

async function askField(field: Field, ask: Ask, output: Writable): Promise<FieldValue | undefined> {
  for (const choice of field.choices) output.write(`    ${choice}\n`);
  for (;;) {
    const typed = (await ask(`  ${field.question}: `, field.complete)).trim();
    if (typed === "" && field.otherwise !== undefined) return field.otherwise;
    if (typed === "" && !field.needed) return undefined;
    if (typed === "") {
      output.write("    This is needed.\n");
      continue;
    }
    const read = field.read(typed);
    if ("value" in read) return read.value;
    output.write(`    ${read.wrong}\n`);
  }
}

/** What the schemas say beyond types and choices. One that says nothing sensible is the client's to refuse. */
async function checksOf(properties: readonly [string, JsonObject][]): Promise<Validate[]> {
  const { compileSchema } = await import("@patchbay/core/schema");
  return properties.map(([, property]) => {
    try {
      return compileSchema(property as JsonSchema);
    } catch {
      return () => undefined;
    }
  });
}
