/** The servers that come with Patchbay, together: one server, in which the names of each begin with its own. */

import { nearest } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import {
  type Builtin,
  type BuiltinOption,
  NotConfiguredError,
  optionName,
  Settings,
  SettingsError,
} from "./builtin.ts";

/** For tests and demonstrations: nobody wants its tools beside those that are of use. */
const LEFT_OUT = "everything";

/**
 * Makes one of many. Each keeps its options, which begin with its name: `--files-allow-delete`; what would follow its name
 * follows its option: `--files <folder>`. One that lacks what it needs is left out, and the operator is told.
 */
export function allOf(builtins: ReadonlyMap<string, Builtin>): Builtin {
  const included = [...builtins].filter(([name]) => name !== LEFT_OUT);
  return {
    description: `All of these but ${LEFT_OUT} in one, the names of each after its own: files_read_file`,
    options: [
      { flags: "--without <name>", description: "leave a server out; may be repeated", many: true },
      ...included.flatMap(([name, builtin]) => optionsOf(name, builtin)),
    ],
    environment: included.flatMap(([, { environment = [] }]) => environment),
    async load(given) {
      const settings = new Settings(given);
      checkNames(settings.texts("without"), included);
      const without = new Set(settings.texts("without"));
      const loaded = await Promise.all(
        included
          .filter(([name]) => !without.has(name))
          .map(async ([name, builtin]) => ({ name, server: await loadOf(name, builtin, settings) })),
      );
      return together(loaded.flatMap(({ name, server }) => (server === undefined ? [] : [{ name, server }])));
    },
  };
}

function optionsOf(name: string, { operand, options = [] }: Builtin): BuiltinOption[] {
  const own = options.map((option) => ({ ...option, flags: `--${name}-${option.flags.slice(2)}` }));
  if (operand === undefined) return own;
  const { name: what, description, many = false } = operand;
  return [{ flags: `--${name} <${what}>`, description, many }, ...own];
}

/** @throws SettingsError for a name that none of them has */
function checkNames(names: readonly string[], included: [string, Builtin][]): void {
  const known = included.map(([name]) => name);
  for (const name of names) {
    if (known.includes(name)) continue;
    const meant = nearest(name, known);
    const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
    throw new SettingsError(`--without: there is no server "${name}"; there are ${known.join(", ")}.${hint}`);
  }
}

/** Nothing where it lacks what it needs. */
async function loadOf(name: string, builtin: Builtin, all: Settings): Promise<McpServer | undefined> {
  const options = Object.fromEntries(
    (builtin.options ?? []).map((option) => [
      optionName(option),
      all.options[`${name}-${optionName(option)}`],
    ]),
  );
  const warn = (text: string) => all.warn(`${name}: ${text}`);
  try {
    return await builtin.load({ operands: all.texts(name), options, environment: all.environment, warn });
  } catch (thrown) {
    if (!(thrown instanceof NotConfiguredError)) throw thrown;
    all.warn(`${name} is left out: ${thrown.message}`);
    return undefined;
  }
}

async function together(parts: { name: string; server: McpServer }[]): Promise<McpServer> {
  const { McpServer } = await import("@patchbay/server");
  const instructions = parts.flatMap(({ name, server }) =>
    server.instructions === undefined ? [] : [`${name}_*: ${server.instructions}`],
  );
  const all = new McpServer(
    { name: "all", title: "All servers of Patchbay", version: "0.1.0" },
    { ...(instructions.length > 0 && { instructions: instructions.join("\n\n") }) },
  );
  for (const { name, server } of parts) all.include(server, { prefix: `${name}_` });
  return all;
}
