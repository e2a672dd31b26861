/** The files that code made, kept for a while so that they can be read as resources. */

import { randomBytes } from "node:crypto";
import type { FileMap } from "../sandbox/archive.ts";
import { inUri, mediaType } from "../sandbox/media.ts";

export interface MadeFilesLimits {
  /** Bytes of the files that one call made; those that do not fit are left out. Default 16,777,216. */
  maxMadeBytes: number;
  /** Files of one call; more are left out. Default 256. */
  maxMadeFiles: number;
  /** Bytes of all files that are kept; the oldest go first. Default 67,108,864. */
  maxKeptBytes: number;
  /** Milliseconds that files are kept. Default 3,600,000, an hour. */
  keepFor: number;
}

/** A file as the result of a call names it. */
export interface MadeFile {
  path: string;
  uri: string;
  mimeType: string;
  /** Bytes. */
  size: number;
}

interface Made {
  owner: string;
  files: FileMap;
  bytes: number;
  until: number;
}

export const MADE_FILES_TEMPLATE = "code://files/{run}/{+path}";

/** Those that fit, and how many do not. */
export function fitting(
  found: Iterable<readonly [path: string, content: Buffer]>,
  { maxMadeBytes, maxMadeFiles }: MadeFilesLimits,
): { files: Map<string, Buffer>; left: number } {
  const files = new Map<string, Buffer>();
  let room = maxMadeBytes;
  let left = 0;
  for (const [path, content] of found) {
    if (content.length > room || files.size >= maxMadeFiles) left++;
    else {
      room -= content.length;
      // A copy: one small file must not keep all that it came with.
      files.set(path, Buffer.from(content));
    }
  }
  return { files, left };
}

export function leftNote({ maxMadeBytes, maxMadeFiles }: MadeFilesLimits): string {
  return `files that it made are missing: maxMadeBytes is ${maxMadeBytes}, maxMadeFiles ${maxMadeFiles}`;
}

/** Files by who made them. */
export class MadeFiles {
  readonly limits: MadeFilesLimits;
  /** Oldest first. */
  readonly #made = new Map<string, Made>();
  #bytes = 0;

  constructor(limits: MadeFilesLimits) {
    this.limits = limits;
  }

  /** Keeps what a call made, and says what it is. */
  keep(files: FileMap, owner: string): MadeFile[] {
    if (files.size === 0) return [];
    const run = randomBytes(12).toString("hex");
    const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
    this.#made.set(run, { owner, files, bytes, until: Date.now() + this.limits.keepFor });
    this.#bytes += bytes;
    for (const [oldest, { until }] of this.#made) {
      if (this.#bytes <= this.limits.maxKeptBytes && until > Date.now()) break;
      this.#forget(oldest);
    }
    return [...files].map(([path, content]) => ({
      path,
      uri: `code://files/${run}/${inUri(path)}`,
      mimeType: mediaType(path, content),
      size: content.length,
    }));
  }

  /** Nothing for who did not make it, and for what is no longer kept. */
  find(run: string, path: string, owner: string): Uint8Array | undefined {
    const made = this.#made.get(run);
    if (made === undefined || made.owner !== owner) return undefined;
    if (made.until > Date.now()) return made.files.get(path);
    this.#forget(run);
    return undefined;
  }

  #forget(run: string): void {
    this.#bytes -= this.#made.get(run)?.bytes ?? 0;
    this.#made.delete(run);
  }
}
