/** `${VAR}` and `${VAR:-default}` in the strings of a configuration. */

import { usage } from "../failure.ts";
import { visibleName } from "../visible.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Puts the environment's values into every string inside a value. A default is used when the variable is unset or empty.
 *
 * @param place where the value stands, such as `mcp.json: mcpServers.github`; errors name it
 * @param used is given the variables that were put in, and their values
 * @throws Failure (usage) that names the unset variable and the place
 */
export function expand<T>(
  value: T,
  place: string,
  environment: NodeJS.ProcessEnv = process.env,
  used = new Map<string, string>(),
): T {
  return expandAt(value, place, environment, used) as T;
}

function expandAt(
  value: unknown,
  place: string,
  environment: NodeJS.ProcessEnv,
  used: Map<string, string>,
): unknown {
  if (typeof value === "string") {
    return value.replace(VARIABLE, (_, name: string, otherwise: string | undefined) => {
      const found = environment[name];
      if (found) used.set(name, found);
      if (otherwise !== undefined) return found || otherwise;
      if (found !== undefined) return found;
      throw usage(
        `${place}: the environment variable ${name} is not set. ` +
          `Set it (in the shell or in .env), or give a default: \${${name}:-value}.`,
      );
    });
  }
  if (Array.isArray(value))
    return value.map((item, index) => expandAt(item, `${place}[${index}]`, environment, used));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        expandAt(inner, `${place}.${visibleName(key)}`, environment, used),
      ]),
    );
  }
  return value;
}
