/** Texts that travel with a client and that only we can read or change: `requestState`, and the ids of sealed sessions. */

import { isObject, type JsonObject } from "@patchbay/core";

/** Seals and opens payloads, with AES-GCM. */
export interface Sealer {
  /** The payload as text that nobody can read or change: letters, digits, `-` and `_`. */
  seal(payload: JsonObject): Promise<string>;
  /** What was sealed, or nothing when the text was not sealed for this purpose with one of the keys. */
  open(text: string): Promise<JsonObject | undefined>;
}

const IV_BYTES = 12;
const KEY_ID_BYTES = 4;
const TAG_BYTES = 16;
const MIN_SECRET_LENGTH = 32;

interface Key {
  id: Uint8Array<ArrayBuffer>;
  /** What is authenticated beside the payload: which key, and what for. */
  context: Uint8Array<ArrayBuffer>;
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}

/**
 * @param purpose what is sealed for one is nothing to another, though the secrets be the same
 * @param secrets the first seals, all open: put a new one first to rotate. Without any, a key of this process
 *   alone is made, and no other instance can open what this one has sealed
 * @throws Error when a secret is shorter than 32 characters
 */
export function createSealer(purpose: "state" | "session", secrets: readonly string[] = []): Sealer {
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) {
      throw new Error(
        `A secret that seals has at least ${MIN_SECRET_LENGTH} characters, such as \`openssl rand -hex 32\` gives`,
      );
    }
  }
  let keys: Promise<Key[]> | undefined;
  const ready = () => {
    keys ??= Promise.all(
      secrets.length === 0
        ? [toKey(crypto.getRandomValues(new Uint8Array(32)), purpose)]
        : secrets.map((secret) => toKey(Uint8Array.from(new TextEncoder().encode(secret)), purpose)),
    );
    return keys;
  };

  return {
    async seal(payload) {
      const { id, context, key } = (await ready())[0] as Key;
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const plain = new TextEncoder().encode(JSON.stringify(payload));
      const sealed = new Uint8Array(
        await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: context }, key, plain),
      );
      const whole = new Uint8Array(id.length + iv.length + sealed.length);
      whole.set(id);
      whole.set(iv, id.length);
      whole.set(sealed, id.length + iv.length);
      return toBase64Url(whole);
    },

    async open(text) {
      const whole = fromBase64Url(text);
      if (whole === undefined || whole.length <= KEY_ID_BYTES + IV_BYTES + TAG_BYTES) return undefined;
      const id = whole.subarray(0, KEY_ID_BYTES);
      const known = (await ready()).find((candidate) =>
        candidate.id.every((byte, index) => byte === id[index]),
      );
      if (known === undefined) return undefined;
      const iv = whole.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
      try {
        const sealed = whole.subarray(KEY_ID_BYTES + IV_BYTES);
        const plain = await crypto.subtle.decrypt(
          { name: "AES-GCM", iv, additionalData: known.context },
          known.key,
          sealed,
        );
        const payload: unknown = JSON.parse(new TextDecoder().decode(plain));
        return isObject(payload) ? payload : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

async function toKey(secret: Uint8Array<ArrayBuffer>, purpose: string): Promise<Key> {
  const digest = await crypto.subtle.digest("SHA-256", secret);
  const key = await crypto.subtle.importKey("raw", digest, "AES-GCM", false, ["encrypt", "decrypt"]);
  const id = new Uint8Array(await crypto.subtle.digest("SHA-256", digest)).slice(0, KEY_ID_BYTES);
  return { id, context: Uint8Array.from([...id, ...new TextEncoder().encode(purpose)]), key };
}

/** SHA-256 of a text, for what an attacker chooses. */
export async function digestOf(text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

export function toBase64Url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Only the one text that these bytes are written as: a decoder passes over the bits that the last character has to spare. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
      char.charCodeAt(0),
    );
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
