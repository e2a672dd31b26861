/** A file that is encrypted with a key of the system's keychain: who copies the file alone has nothing. */

import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Not a literal in the import: without the package, nobody could compile this. */
const PACKAGE: string = "@napi-rs/keyring";
/** How the key is called in the keychain. */
const SERVICE = "patchbay";
const ACCOUNT = "credentials";
const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a text; the key is made with the first. A key and not the text itself is what the keychain keeps, for some take
 * no more than 2560 bytes.
 *
 * @throws Error when the keychain cannot be reached
 */
export async function seal(text: string): Promise<string> {
  const entry = await openEntry();
  const kept = await reach(() => entry.getPassword());
  const key = kept ?? randomBytes(KEY_BYTES).toString("base64");
  if (kept === null) await reach(() => entry.setPassword(key));
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, Buffer.from(key, "base64"), iv);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64");
}

/** @throws Error when the keychain cannot be reached, or has another key */
export async function unseal(sealed: string): Promise<string> {
  const entry = await openEntry();
  const key = await reach(() => entry.getPassword());
  const whole = Buffer.from(sealed, "base64");
  try {
    if (key === null) throw new Error("there is no key");
    const decipher = createDecipheriv(CIPHER, Buffer.from(key, "base64"), whole.subarray(0, IV_BYTES));
    decipher.setAuthTag(whole.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const body = whole.subarray(IV_BYTES + TAG_BYTES);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString("utf8");
  } catch (cause) {
    throw new Error("the system's keychain does not have the key that it is encrypted with", { cause });
  }
}

/** What is used of the package. */
interface Keyring {
  AsyncEntry: new (service: string, account: string) => KeyringEntry;
}

interface KeyringEntry {
  /** `null` where there is none. */
  getPassword(): Promise<string | null>;
  setPassword(password: string): Promise<void>;
}

async function openEntry() {
  // Who keeps credentials in a plain file does not load it, and need not have it.
  const { AsyncEntry } = await (import(PACKAGE) as Promise<Keyring>).catch((cause) => {
    throw new Error(`the system's keychain takes ${PACKAGE}: npm install ${PACKAGE}`, { cause });
  });
  return new AsyncEntry(SERVICE, ACCOUNT);
}

async function reach<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the system's keychain cannot be reached, or is locked (${why})`, { cause });
  }
}
