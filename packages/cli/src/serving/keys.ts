/** Keys that were given out, in a file: it holds their hashes, and nobody can get in by reading it. */

import { closeSync, fstatSync, openSync } from "node:fs";
import type { StaticKey } from "@patchbay/server/auth";
import { z } from "zod";
import { Failure, usage } from "../failure.ts";
import { MAX_FILE_BYTES, readSmallFile } from "../file.ts";
import { visibleLine } from "../visible.ts";

const entry = z.strictObject({
  hash: z.string().regex(/^sha256:[\w-]{43}$/, 'is not as `patchbay key` gives it ("sha256:…")'),
  subject: z.string().min(1, "names nobody"),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "is no scope")).optional(),
  expires: z.iso.datetime({ offset: true, error: "is no time such as 2027-12-31T12:00:00Z" }).optional(),
});

/** A key as the file has it. */
export type KeyEntry = z.infer<typeof entry>;

/**
 * @param mustExist false to take a file that is not there for one without keys
 * @throws Failure (usage) that names the file and the place
 */
export function readEntries(file: string, mustExist = true): KeyEntry[] {
  const wrong = (why: string) => usage(`--auth-keys ${visibleLine(file)}: ${why}.`);
  let text: string;
  try {
    checkMode(file);
    text = readSmallFile(file);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" && !mustExist) return [];
    throw wrong(code === "ENOENT" ? "there is no such file; `patchbay key` makes one" : (code ?? message));
  }
  let content: unknown;
  try {
    content = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw wrong("it is not JSON");
  }
  const { data, error } = z.array(entry).safeParse(content);
  if (data !== undefined) return data;
  throw wrong(faultOf(error));
}

function faultOf({ issues: [issue] }: z.ZodError): string {
  const place = issue?.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return `${place?.join("").replace(/^\./, "") || "it"} ${issue?.message}`;
}

/** @throws Failure (usage) as `readEntries`, and for a file without keys: nobody could come in */
export function readKeys(file: string): StaticKey[] {
  const entries = readEntries(file);
  if (entries.length === 0)
    throw usage(`--auth-keys ${visibleLine(file)}: it has no keys; \`patchbay key\` makes one.`);
  return entries.map(({ hash, subject, scopes = [], expires }) => ({
    hash,
    subject,
    scopes,
    ...(expires !== undefined && { expires: new Date(expires) }),
  }));
}

/**
 * Adds a key; who adds others at the same time takes turns.
 *
 * @throws Failure (usage) for a key that would not be taken, and as `readEntries`
 */
export async function addEntry(file: string, added: KeyEntry, signal: AbortSignal): Promise<void> {
  const { error } = entry.safeParse(added);
  if (error !== undefined) throw usage(`No such key is made: ${faultOf(error)}.`);
  // Only who writes takes a turn; a server that reads keys does not load what it takes.
  const { PrivateFile } = await import("@patchbay/client/private-file");
  const keys = new PrivateFile(file, MAX_FILE_BYTES);
  try {
    await keys.alone("keys", signal, async () => {
      const entries = [...readEntries(file, false), added];
      await keys.write(`${JSON.stringify(entries, undefined, 2)}\n`);
    });
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (thrown instanceof Failure || typeof code !== "string") throw thrown;
    throw usage(`${visibleLine(file)} cannot be written (${code}).`);
  }
}

/** Whoever writes to it could let themselves in. */
function checkMode(file: string): void {
  if (process.platform === "win32") return;
  const opened = openSync(file, "r");
  try {
    const { mode, uid } = fstatSync(opened);
    if ((mode & 0o022) !== 0) throw new Error("others can write to it: make it yours alone (chmod go-w)");
    if (uid !== 0 && uid !== process.getuid?.())
      throw new Error("it is another user's, who can write to it: make it yours (chown)");
  } finally {
    closeSync(opened);
  }
}
