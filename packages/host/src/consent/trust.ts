/** What was approved, kept from session to session: servers, their tools as they were then, and what was said of each. */

import { PrivateFile } from "@patchbay/client/private-file";
import { isObject } from "@patchbay/core";
import type { ServerIdentity } from "./identity.ts";

/** A tool as it was approved. */
export interface PinnedTool {
  /** SHA-256 of its name, title, description, schemas and annotations, in hexadecimal. */
  hash: string;
  /** Its definition, to show what changed; missing where it is too long to keep. */
  definition?: string;
  /** What was said of it for all time. A tool that changes loses it. */
  answer?: "always" | "never";
  /** Whether that was said while content from outside was in the conversation. */
  untrusted?: boolean;
}

export interface TrustedServer {
  identity: ServerIdentity;
  /** Missing until they have been seen for the first time. */
  tools?: Readonly<Record<string, PinnedTool>>;
}

/** Where it is kept. */
export interface TrustStore {
  get(key: string): Promise<TrustedServer | undefined>;
  /** Changes one entry; nobody else changes it meanwhile, in this process or another. `undefined` removes it. */
  update(
    key: string,
    change: (before: TrustedServer | undefined) => TrustedServer | undefined,
  ): Promise<void>;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** For as long as this process runs. */
export function memoryTrust(): TrustStore {
  const kept = new Map<string, TrustedServer>();
  return {
    get: async (key) => kept.get(key),
    async update(key, change) {
      const now = change(kept.get(key));
      if (now === undefined) kept.delete(key);
      else kept.set(key, now);
    },
  };
}

/** In a file of mode 0600, replaced as a whole with each change; processes take turns. */
export function fileTrust(path: string): TrustStore {
  const file = new PrivateFile(path, MAX_BYTES);
  return {
    get: async (key) => (await read(file)).get(key),
    update: (key, change) =>
      file.alone("trust", undefined, async () => {
        const servers = await read(file);
        const now = change(servers.get(key));
        if (now === undefined) servers.delete(key);
        else servers.set(key, now);
        await file.write(`${JSON.stringify({ servers: Object.fromEntries(servers) }, undefined, 2)}\n`);
      }),
  };
}

async function read(file: PrivateFile): Promise<Map<string, TrustedServer>> {
  const text = await file.read();
  if (text === undefined) return new Map();
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw new Error(`${file.path} is not JSON; mend it, or remove it and approve your servers again`);
  }
  const servers =
    isObject(content) && isObject(content.servers) ? Object.entries(content.servers) : undefined;
  // What is left out of it would count as new, and be trusted as it is now.
  if (servers?.every(([, server]) => isTrustedServer(server)) !== true)
    throw new Error(`${file.path} is damaged; mend it, or remove it and approve your servers again`);
  return new Map(servers) as unknown as Map<string, TrustedServer>;
}

function isTrustedServer(value: unknown): boolean {
  if (!isObject(value) || !isObject(value.identity)) return false;
  const { args = [], env = [], headers = [], ...texts } = value.identity;
  const areTexts = (given: unknown) =>
    Array.isArray(given) && given.every((each) => typeof each === "string");
  const { tools = {} } = value;
  return (
    [args, env, headers, Object.values(texts)].every(areTexts) &&
    isObject(tools) &&
    Object.values(tools).every((tool) => isObject(tool) && typeof tool.hash === "string")
  );
}
