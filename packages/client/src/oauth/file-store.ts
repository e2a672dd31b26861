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
  const content = { registration: whole("registration", plain), grant: whole("grant", plain) };
  return { content, isSealed };
}

/** What an entry needs to be of use, and what else is a text in it. */
const TEXTS: Record<keyof Kept, { needed: readonly string[]; others: readonly string[] }> = {
  registration: { needed: ["issuer", "clientId"], others: ["clientSecret", "authMethod", "redirectUri"] },
  grant: {
    needed: ["server", "issuer", "resource", "clientId", "accessToken", "tokenType"],
    others: ["clientSecret", "authMethod", "refreshToken", "scope", "requestedScope", "user"],
  },
};
const NUMBERS = ["clientSecretExpiresAt", "givenAt", "expiresAt"];

/** The entries of a kind; one that somebody has damaged is as if it were not there: a new login takes its place. */
function whole<Kind extends keyof Kept>(kind: Kind, content: JsonObject): Record<string, Kept[Kind]> {
  const { needed, others } = TEXTS[kind];
  const entries = content[kind];
  const isWhole = (entry: unknown) =>
    isObject(entry) &&
    needed.every((name) => typeof entry[name] === "string") &&
    others.every((name) => entry[name] === undefined || typeof entry[name] === "string") &&
    NUMBERS.every((name) => entry[name] === undefined || isTime(entry[name])) &&
    (entry.tokenType !== "dpop" || isObject(entry.key));
  const kept = Object.entries(isObject(entries) ? entries : {}).filter(([, entry]) => isWhole(entry));
  return Object.fromEntries(kept) as unknown as Record<string, Kept[Kind]>;
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

function isTime(value: unknown): boolean {
  return typeof value === "number" && !Number.isNaN(new Date(value).getTime());
}

function own<T>(entries: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
