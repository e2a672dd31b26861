/** `.env` in the working directory: read if it is there, never written, and never over what is already set. */

import { parseEnv } from "node:util";
import { readSmallFile } from "./file.ts";

export interface DotEnv {
  /** The variables that have their value from the file. */
  variables: ReadonlySet<string>;
  /** Why the file, which is there, was not read. */
  warning?: string;
}

/**
 * They would send what is said elsewhere, or say which files are the user's own and which program is meant by a name: the
 * user may set them, and no file in a folder.
 */
const USER_ONLY = new RegExp(
  [
    "^(?:NODE|LANGSMITH|LANGCHAIN|OTEL|XDG|LD|DYLD|DBUS)_",
    "_PROXY$",
    "^(?:HOME|USERPROFILE|APPDATA|LOCALAPPDATA|CLAUDE_CONFIG_DIR|PATCHBAY_KEYCHAIN)$",
    "^(?:PATH|PATHEXT|COMSPEC|SYSTEMROOT|SHELL|BROWSER|TMPDIR|TEMP|TMP)$",
  ].join("|"),
  "i",
);
/** Where each goes to whom a key is sent: that of the user's own is sent nowhere that a file in a folder says. */
const KEY_OF: Readonly<Record<string, string>> = {
  FIRECRAWL_API_URL: "FIRECRAWL_API_KEY",
  DATABASE_URL: "PGPASSWORD",
  PGHOST: "PGPASSWORD",
};

/** Puts what `.env` says into `environment`, and tells which variables that were: a folder's file is not its user. */
export function readDotEnv(environment: NodeJS.ProcessEnv = process.env): DotEnv {
  const variables = new Set<string>();
  const isUsersKey = (name = "") => (environment[name] ?? "") !== "" && !variables.has(name);
  try {
    for (const [name, value] of Object.entries(parseEnv(readSmallFile(".env")))) {
      if (environment[name] !== undefined || USER_ONLY.test(name) || isUsersKey(KEY_OF[name])) continue;
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
