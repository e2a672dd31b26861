/** `.env` in the working directory: read if it is there, never written, and never over what is already set. */

import { parseEnv } from "node:util";
import { readSmallFile } from "./file.ts";

export interface DotEnv {
  /** The variables that have their value from the file. */
  variables: ReadonlySet<string>;
  /** Why the file, which is there, was not read. */
  warning?: string;
}

/** They would send what is said, or a key, elsewhere: the user may set them, and no file in a folder. */
const USER_ONLY = /^(NODE|LANGSMITH|LANGCHAIN)_|_PROXY$/i;

/** Puts what `.env` says into `environment`, and tells which variables that were: a folder's file is not its user. */
export function readDotEnv(environment: NodeJS.ProcessEnv = process.env): DotEnv {
  const variables = new Set<string>();
  try {
    for (const [name, value] of Object.entries(parseEnv(readSmallFile(".env")))) {
      if (environment[name] !== undefined || USER_ONLY.test(name)) continue;
      environment[name] = value;
      variables.add(name);
    }
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code !== "ENOENT")
      return { variables, warning: `.env could not be read (${code ?? message}); it is ignored.` };
  }
  return { variables };
}
