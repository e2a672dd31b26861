/** `${…}` in the strings of a configuration: the environment's variables, folders, and what the user is asked for. */

import { homedir } from "node:os";
import { basename, sep } from "node:path";
import { usage } from "../failure.ts";
import { visibleName } from "../visible.ts";

/** What a configuration may name. */
export interface Scope {
  environment: NodeJS.ProcessEnv;
  /** An absolute path: `${workspaceFolder}`. */
  workspaceFolder: string;
  /** What the user has answered, by the ids of `${input:id}`. */
  inputs?: ReadonlyMap<string, string>;
  /** Is given the variables and the inputs that were put in, and their values. */
  used?: Map<string, string>;
}

/** `${NAME}`, `${env:NAME}`, both with `:-default`; `${kind:name}`; `${/}`. */
const VARIABLE = /\$\{(?:(env|input|command|config):)?([A-Za-z_][\w.-]*|\/)(?::-([^}]*))?\}/g;

/** What VS Code knows besides the environment. */
const FOLDERS: Record<string, (scope: Scope) => string> = {
  userHome: ({ environment }) => environment.HOME || environment.USERPROFILE || homedir(),
  workspaceFolder: (scope) => scope.workspaceFolder,
  workspaceFolderBasename: (scope) => basename(scope.workspaceFolder),
  cwd: () => process.cwd(),
  pathSeparator: () => sep,
  "/": () => sep,
};

/**
 * Puts values into every string inside a value. A default is used when the variable is unset or empty.
 *
 * @param place where the value stands, such as `mcp.json: mcpServers.github`; errors name it
 * @throws Failure (usage) that names the unset variable and the place
 */
export function expand<T>(value: T, place: string, scope: Scope): T {
  return mapStrings(value, place, (text, at) =>
    text.replace(VARIABLE, (whole: string, kind: string | undefined, name: string, otherwise?: string) =>
      resolved({ whole, kind, name, otherwise }, at, scope),
    ),
  ) as T;
}

/** The ids of all `${input:id}` inside a value, each with where it stands first. */
export function inputsIn(value: unknown, place: string): Map<string, string> {
  const found = new Map<string, string>();
  mapStrings(value, place, (text, at) => {
    for (const [, kind, name = ""] of text.matchAll(VARIABLE))
      if (kind === "input" && !found.has(name)) found.set(name, at);
    return text;
  });
  return found;
}

interface Variable {
  whole: string;
  kind: string | undefined;
  name: string;
  otherwise: string | undefined;
}

function resolved({ whole, kind, name, otherwise }: Variable, place: string, scope: Scope): string {
  const { environment, inputs, used } = scope;
  if (kind === "command" || kind === "config") {
    throw usage(`${place}: ${whole} is known to VS Code alone. Write the value, or \${NAME} for a variable.`);
  }
  if (kind === "input") {
    const answer = inputs?.get(name);
    if (answer === undefined) throw usage(`${place}: there is no input "${visibleName(name)}" in "inputs".`);
    used?.set(name, answer);
    return answer;
  }
  const folder = kind === undefined && Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
  if (folder !== undefined) return folder(scope);
  // Not the name of a variable: left as it is, as other clients do.
  if (!/^[A-Za-z_]\w*$/.test(name)) return whole;
  // `${constructor}` is no variable, though the environment is an object.
  const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
  if (found) used?.set(name, found);
  if (otherwise !== undefined) return found || otherwise;
  if (found !== undefined) return found;
  throw usage(
    `${place}: the environment variable ${name} is not set. ` +
      `Set it (in the shell or in .env), or give a default: \${${name}:-value}.`,
  );
}

function mapStrings(value: unknown, place: string, change: (text: string, place: string) => string): unknown {
  if (typeof value === "string") return change(value, place);
  if (Array.isArray(value)) return value.map((item, index) => mapStrings(item, `${place}[${index}]`, change));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        mapStrings(inner, `${place}.${visibleName(key)}`, change),
      ]),
    );
  }
  return value;
}
