/** Credentials in a file that only its user may read, shared by all processes of that user. */

import { homedir } from "node:os";
import { join } from "node:path";
import { isObject } from "@patchbay/core";
import { PrivateFile } from "../private-file.ts";
import type { CredentialStore, Kept } from "./store.ts";

export interface FileStoreOptions {
  /** The file. Default `patchbay/credentials.json` in `$XDG_CONFIG_HOME` or `~/.config`; on Windows in `%APPDATA%`. */
  path?: string;
}

type Content = { [Kind in keyof Kept]: Record<string, Kept[Kind]> };

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Keeps credentials in a file of mode 0600. Each change replaces the whole file, so that a crash leaves the old or the
 * new one; processes take turns.
 */
export function fileStore({ path = defaultPath() }: FileStoreOptions = {}): CredentialStore {
  const file = new PrivateFile(path, MAX_BYTES);
  return {
    get: async (kind, key) => own((await read(file))[kind], key),
    set: (kind, key, value) =>
      file.alone("file", undefined, async () => {
        const content = await read(file);
        const { [key]: _before, ...others } = content[kind];
        const entries = value === undefined ? others : { ...others, [key]: value };
        await file.write(`${JSON.stringify({ ...content, [kind]: entries }, undefined, 2)}\n`);
      }),
    list: async (kind) => Object.values((await read(file))[kind]),
    alone: (name, signal, work) => file.alone(name, signal, work),
  };
}

/** Where the credentials of this user are, unless an option says otherwise. */
export function defaultPath(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const roaming = env.APPDATA || join(homedir(), "AppData", "Roaming");
  const folder = platform === "win32" ? roaming : env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(folder, "patchbay", "credentials.json");
}

async function read(file: PrivateFile): Promise<Content> {
  const text = await file.read();
  if (text === undefined) return { registration: {}, grant: {} };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(`${file.path} is not JSON; mend it, or remove it and log in again`);
  }
  const { registration, grant } = isObject(content) ? content : {};
  return {
    registration: isObject(registration) ? (registration as unknown as Content["registration"]) : {},
    grant: isObject(grant) ? (grant as unknown as Content["grant"]) : {},
  };
}

function own<T>(entries: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
