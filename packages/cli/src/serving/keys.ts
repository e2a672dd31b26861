/** Keys that were given out, in a file: it holds their hashes, and nobody can get in by reading it. */

import { closeSync, fstatSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { StaticKey } from "@patchbay/server/auth";
import { z } from "zod";
import { usage } from "../failure.ts";
import { readSmallFile } from "../file.ts";
import { visibleLine } from "../visible.ts";

const entry = z.strictObject({
  hash: z.string().regex(/^sha256:[\w-]{43}$/, 'is not as `patchbay key` gives it ("sha256:…")'),
  subject: z.string().min(1),
  scopes: z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, "is no scope")).optional(),
  expires: z.iso.datetime({ offset: true }).optional(),
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
    content = JSON.parse(text);
  } catch {
    throw wrong("it is not JSON");
  }
  const { data, error } = z.array(entry).safeParse(content);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  throw wrong(`[${issue?.path.join("].")} ${issue?.message}`);
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

/** Replaces the file as a whole: a crash leaves the old or the new one. */
export function writeEntries(file: string, entries: readonly KeyEntry[]): void {
  const temporary = `${file}.${process.pid}.new`;
  try {
    writeFileSync(temporary, `${JSON.stringify(entries, undefined, 2)}\n`, { flag: "wx", mode: 0o600 });
    renameSync(temporary, file);
  } catch (thrown) {
    rmSync(temporary, { force: true });
    throw usage(`${visibleLine(file)} cannot be written (${(thrown as NodeJS.ErrnoException).code}).`);
  }
}

/** Whoever writes to it could let themselves in. */
function checkMode(file: string): void {
  if (process.platform === "win32") return;
  const opened = openSync(file, "r");
  try {
    if ((fstatSync(opened).mode & 0o022) !== 0)
      throw new Error("others can write to it: make it yours alone (chmod go-w)");
  } finally {
    closeSync(opened);
  }
}
