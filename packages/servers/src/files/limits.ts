/** What bounds the work on files: each limit with its default; an error about one names it. */

import type { ReadingLimits } from "../web/reading/readers.ts";

/** Those of `ReadingLimits` bound the reading of PDFs: 20,000 ms, 2 at a time, 100 that wait, 512 MB, 2,000,000 characters. */
export interface FilesLimits extends ReadingLimits {
  /** Bytes of text that one call gives: of a file, or of a diff. Default 250,000. */
  maxReadBytes: number;
  /** Bytes of a file that is taken as a whole: an image, a PDF, a resource, one that is edited or searched. Default 20,000,000. */
  maxFileBytes: number;
  /** Bytes that one call may write. Default 10,000,000. */
  maxWriteBytes: number;
  /** Entries of one listing. Default 1000. */
  maxEntries: number;
  /** Matches that one search gives. Default 1000. */
  maxMatches: number;
  /** Entries that one search or one deletion goes through. Default 200,000. */
  maxScanned: number;
  /** Bytes that one search, or the way to one range of lines, goes through. Default 1,000,000,000. */
  maxScannedBytes: number;
  /** Folders within folders that are gone down. Default 64. */
  maxFolderDepth: number;
  /** Folders that are watched at once. Default 1000. */
  maxWatchedFolders: number;
  /** Milliseconds that a regular expression may take for about a megabyte. Default 1000. */
  patternTimeout: number;
}

const DEFAULTS: FilesLimits = {
  readingTimeout: 20_000,
  maxReaders: 2,
  maxWaiting: 100,
  maxReaderMegabytes: 512,
  maxPageCharacters: 2_000_000,
  maxReadBytes: 250_000,
  maxFileBytes: 20_000_000,
  maxWriteBytes: 10_000_000,
  maxEntries: 1000,
  maxMatches: 1000,
  maxScanned: 200_000,
  maxScannedBytes: 1_000_000_000,
  maxFolderDepth: 64,
  maxWatchedFolders: 1000,
  patternTimeout: 1000,
};

/** @throws Error when a limit is no positive integer */
export function filesLimits(given: Partial<FilesLimits>): FilesLimits {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  for (const [name, value] of set) {
    if (!Object.hasOwn(DEFAULTS, name))
      throw new Error(`there is no limit "${name}"; there are ${Object.keys(DEFAULTS).join(", ")}`);
    if (!Number.isSafeInteger(value) || value < 1)
      throw new Error(`${name} must be a positive integer, not ${value}`);
  }
  return { ...DEFAULTS, ...Object.fromEntries(set) };
}

/** What was asked for passes a limit. */
export class BeyondLimitError extends Error {
  readonly limit: keyof FilesLimits;
  readonly value: number;

  /** @param what such as `"a.bin" has more bytes` */
  constructor(limit: keyof FilesLimits, value: number, what: string, advice = "") {
    super(`${what} than ${limit} allows (${value})${advice}`);
    this.limit = limit;
    this.value = value;
  }
}
