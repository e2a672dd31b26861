/** Credentials in a file that only its user may read, shared by all processes of that user. */

import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, type JsonObject } from "@patchbay/core";
import { PrivateFile } from "../private-file.ts";
import type { CredentialStore, Kept } from "./store.ts";

export interface FileStoreOptions {
  /** The file. Default `patchbay/credentials.json` in `$XDG_CONFIG_HOME` or `~/.config`; on Windows in `%APPDATA%`. */
  path?: string;
  /**
   * Encrypts the file with a key that the system's keychain keeps (Keychain, Credential Manager, Secret Service). It takes
   * the package `@napi-rs/keyring`. A file that is encrypted stays so. Default false.
   */
  keychain?: boolean;
}

type Content = { [Kind in keyof Kept]: Record<string, Kept[Kind]> };

const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Keeps credentials in a file of mode 0600. Each change replaces the whole file, so that a crash leaves the old or the
 * new one; processes take turns.
 */
export function fileStore({
  path = defaultPath(),
  keychain = false,
}: FileStoreOptions = {}): CredentialStore {
  const file = new PrivateFile(path, MAX_BYTES);
  return {
    get: async (kind, key) => own((await read(file)).content[kind], key),
    set: (kind, key, value) =>
      file.alone("file", undefined, async () => {
        const { content, isSealed } = await read(file);
        const { [key]: _before, ...others } = content[kind];
        const entries = value === undefined ? others : { ...others, [key]: value };
        await write(file, { ...content, [kind]: entries }, keychain || isSealed);
      }),
    list: async (kind) => Object.values((await read(file)).content[kind]),
    alone: (name, signal, work) => file.alone(name, signal, work),
  };
}

/** Where the credentials of this user are, unless an option says otherwise. */
export function defaultPath(env: NodeJS.ProcessEnv = process.env, platform = process.platform): string {
  const roaming = env.APPDATA || join(homedir(), "AppData", "Roaming");
  const folder = platform === "win32" ? roaming : env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(folder, "patchbay", "credentials.json");
}

async function read(file: PrivateFile): Promise<{ content: Content; isSealed: boolean }> {
  const text = await file.read();
  if (text === undefined) return { content: { registration: {}, grant: {} }, isSealed: false };
  const found = parse(file, text);
  const { sealed } = found;
  const isSealed = typeof sealed === "string";
  const plain = isSealed ? parse(file, await withKeychain(file, ({ unseal }) => unseal(sealed))) : found;
  const { registration, grant } = plain;
  const content = {
    registration: isObject(registration) ? (registration as unknown as Content["registration"]) : {},
    grant: isObject(grant) ? (grant as unknown as Content["grant"]) : {},
  };
  return { content, isSealed };
}

async function write(file: PrivateFile, content: Content, seals: boolean): Promise<void> {
  const plain = JSON.stringify(content, undefined, 2);
  const text = seals
    ? JSON.stringify({ sealed: await withKeychain(file, ({ seal }) => seal(plain)) })
    : plain;
  await file.write(`${text}\n`);
}

function parse({ path }: PrivateFile, text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    throw new Error(`${path} is not JSON; mend it, or remove it and log in again`);
  }
}

async function withKeychain(
  { path }: PrivateFile,
  work: (keychain: typeof import("./keychain.ts")) => Promise<string>,
): Promise<string> {
  try {
    return await work(await import("./keychain.ts"));
  } catch (cause) {
    throw new Error(`${path}: ${(cause as Error).message}`, { cause });
  }
}

function own<T>(entries: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
