/** What Tab offers in a conversation: commands, prompts and their arguments, servers and their resources. */

import type { CompleterResult } from "node:readline";
import type { Prompt, ResourceTemplate } from "@patchbay/core";
import type { Completer } from "../dialog.ts";
import { COMMANDS } from "./commands.ts";
import { clean, type Offers } from "./offers.ts";
import { splitWords } from "./words.ts";

/** More are not listed. */
const MAX_OFFERED = 100;

export function completerOf(offers: Offers): Completer {
  return async (line) => {
    if (/^\/\S*$/.test(line)) return commands(line, offers);
    const prompt = /^\/(\S+)\s/.exec(line);
    if (prompt !== null) return promptArguments(line, prompt[1] as string, offers);
    const word = /(?<=^|\s)@\S*$/.exec(line)?.[0];
    return word === undefined ? [[], line] : mention(word, offers);
  };
}

async function commands(line: string, offers: Offers): Promise<CompleterResult> {
  const own = COMMANDS.map(({ name }) => `/${name}`);
  const ofServers = await Promise.all(
    offers.servers.map(async (server) =>
      (await offers.prompts(server)).map(({ name }) => `/${server}:${name}`),
    ),
  );
  return [starting(line, [...own, ...ofServers.flat()]), line];
}

async function promptArguments(line: string, name: string, offers: Offers): Promise<CompleterResult> {
  const last = /(?:[^\s"']|"[^"]*"?|'[^']*'?)*$/.exec(line)?.[0] ?? "";
  const found = await addressed(name, offers);
  if (found === undefined) return [[], last];
  const { server, prompt } = found;
  const takes = (prompt.arguments ?? []).map((argument) => argument.name);
  const given = Object.fromEntries(
    splitWords(line.slice(0, line.length - last.length))
      .map((word) => /^([^=]+)=(.*)$/s.exec(word)?.slice(1) as [string, string] | undefined)
      .filter((pair) => pair !== undefined),
  );
  const [, key, value = ""] = /^([^=]+)=(.*)$/s.exec(last) ?? [];
  if (key === undefined || !takes.includes(key)) {
    const left = takes.filter((each) => !Object.hasOwn(given, each)).map((each) => `${each}=`);
    return [starting(last, left), last];
  }
  const values = await offers.values(server, {
    ref: { type: "ref/prompt", name: prompt.name },
    argument: { name: key, value: splitWords(value)[0] ?? "" },
    context: { arguments: given },
  });
  return [clean(values).map((each) => `${key}=${/[\s"']/.test(each) ? JSON.stringify(each) : each}`), last];
}

async function addressed(
  name: string,
  offers: Offers,
): Promise<{ server: string; prompt: Prompt } | undefined> {
  for (const server of offers.servers) {
    for (const prompt of await offers.prompts(server))
      if (name === `${server}:${prompt.name}` || name === prompt.name) return { server, prompt };
  }
  return undefined;
}

async function mention(word: string, offers: Offers): Promise<CompleterResult> {
  const server = offers.servers.find((each) => word.startsWith(`@${each}:`));
  if (server === undefined)
    return [
      starting(
        word,
        offers.servers.map((each) => `@${each}:`),
      ),
      word,
    ];
  const typed = word.slice(server.length + 2);
  const [resources, templates] = await Promise.all([offers.resources(server), offers.templates(server)]);
  const ofTemplates = await Promise.all(
    templates.map((template) => expansions(typed, template, server, offers)),
  );
  const uris = [...resources.map(({ uri }) => uri), ...ofTemplates.flat()];
  return [
    starting(
      word,
      uris.map((uri) => `@${server}:${uri}`),
    ),
    word,
  ];
}

/** How a URI that is begun may go on, as a template has it: up to its next variable, or with that variable's values. */
async function expansions(
  typed: string,
  { uriTemplate }: ResourceTemplate,
  server: string,
  offers: Offers,
): Promise<string[]> {
  const parts = uriTemplate.split(/\{(\w+)\}/);
  const filled: Record<string, string> = {};
  let at = 0;
  for (let index = 0; index < parts.length; index += 2) {
    const literal = parts[index] as string;
    const rest = typed.slice(at);
    if (rest.length <= literal.length && literal.startsWith(rest) && rest !== literal)
      return [typed.slice(0, at) + literal];
    if (!rest.startsWith(literal)) return [];
    at += literal.length;
    const variable = parts[index + 1];
    if (variable === undefined) return [];
    const next = parts[index + 2] as string;
    const end = next === "" ? -1 : typed.indexOf(next, at);
    if (end === -1) {
      const values = await offers.values(server, {
        ref: { type: "ref/resource", uri: uriTemplate },
        argument: { name: variable, value: typed.slice(at) },
        context: { arguments: filled },
      });
      return values.map((value) => typed.slice(0, at) + value);
    }
    filled[variable] = typed.slice(at, end);
    at = end;
  }
  return [];
}

/** Those that begin so. Where they are many, no more than what all of them go on with. */
function starting(line: string, all: readonly string[]): string[] {
  const fitting = clean([...new Set(all)].filter((each) => each.startsWith(line) && !/\s/.test(each)));
  if (fitting.length <= MAX_OFFERED) return fitting;
  const common = fitting.reduce((before, each) => {
    let length = 0;
    while (length < before.length && before[length] === each[length]) length++;
    return before.slice(0, length);
  });
  return common.length > line.length ? [common] : fitting.slice(0, MAX_OFFERED);
}
