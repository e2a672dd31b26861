/** Lines of a text file: those that are asked for, and no more of it in memory. */

import { BeyondLimitError, type FilesLimits } from "./limits.ts";

/** Reads from a place in an open file; gives how many bytes, 0 at its end. */
export type ReadAt = (buffer: Buffer, position: number) => Promise<number>;

/** Lines of a file, and where they are in it. */
export interface Lines {
  bytes: Buffer;
  /** The first and the last line that is given, from 1; the last is before the first where there is none. */
  startLine: number;
  endLine: number;
  /** How many the file has, where its end was seen. */
  totalLines?: number;
  /** Not all fits that was asked for. */
  truncated: boolean;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Lines `from` to `end`, from 1, as many as `maxReadBytes` holds: whole lines, or the beginning of one that is longer. A
 * negative `from` counts from the end.
 *
 * @throws BeyondLimitError when they are behind `maxScannedBytes`
 */
export async function readLines(
  readAt: ReadAt,
  from: number,
  end: number,
  limits: FilesLimits,
  signal: AbortSignal,
): Promise<Lines> {
  const { maxReadBytes, maxScannedBytes } = limits;
  const start = from > 0 ? from : fromStart(from, await countLines(readAt, limits, signal));
  const kept: Buffer[] = [];
  let size = 0;
  let line = 1;
  let position = 0;
  let lastByte = NEWLINE;
  while (line <= end && size <= maxReadBytes) {
    signal.throwIfAborted();
    const chunk = Buffer.allocUnsafe(CHUNK);
    const bytes = chunk.subarray(0, await readAt(chunk, position));
    if (bytes.length === 0) {
      const totalLines = lastByte === NEWLINE ? line - 1 : line;
      return { ...fitting(Buffer.concat(kept), start, maxReadBytes), totalLines };
    }
    let first = line >= start ? 0 : bytes.length;
    let at = 0;
    while (line <= end && at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      at = newline === -1 ? bytes.length : newline + 1;
      if (newline !== -1 && ++line === start) first = at;
    }
    const wanted = bytes.subarray(first, Math.max(first, at));
    kept.push(wanted);
    size += wanted.length;
    position += bytes.length;
    lastByte = bytes.at(-1) as number;
    if (size === 0 && position > maxScannedBytes)
      throw new BeyondLimitError("maxScannedBytes", maxScannedBytes, `line ${start} is behind more bytes`);
  }
  return fitting(Buffer.concat(kept), start, maxReadBytes);
}

/**
 * How many lines a file has.
 *
 * @throws BeyondLimitError when it is longer than `maxScannedBytes`
 */
async function countLines(
  readAt: ReadAt,
  { maxScannedBytes }: FilesLimits,
  signal: AbortSignal,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let lines = 0;
  let position = 0;
  let lastByte = NEWLINE;
  for (;;) {
    signal.throwIfAborted();
    const count = await readAt(chunk, position);
    if (count === 0) return lastByte === NEWLINE ? lines : lines + 1;
    const bytes = chunk.subarray(0, count);
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
    lastByte = bytes.at(-1) as number;
    position += count;
    if (position > maxScannedBytes)
      throw new BeyondLimitError("maxScannedBytes", maxScannedBytes, "the file has more bytes");
  }
}

/** Lines of a text that is in memory. A negative `start` counts from the end. */
export function linesOf(bytes: Buffer, start: number, end: number, { maxReadBytes }: FilesLimits): Lines {
  const ends: number[] = [];
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at + 1);
  if ((ends.at(-1) ?? 0) < bytes.length) ends.push(bytes.length);
  const totalLines = ends.length;
  const first = fromStart(start, totalLines);
  const from = first === 1 ? 0 : (ends[first - 2] ?? bytes.length);
  const to = ends[end - 1] ?? bytes.length;
  return { ...fitting(bytes.subarray(from, Math.max(from, to)), first, maxReadBytes), totalLines };
}

/** A line that was counted from the end, counted from the start. */
function fromStart(line: number, total: number): number {
  return line > 0 ? line : Math.max(1, total + line + 1);
}

/** What there is room for. */
function fitting(all: Buffer, startLine: number, most: number): Lines {
  const truncated = all.length > most;
  const bytes = truncated ? all.subarray(0, cutAt(all, most)) : all;
  let count = bytes.length > 0 && bytes.at(-1) !== NEWLINE ? 1 : 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return { bytes, startLine, endLine: startLine + count - 1, truncated };
}

/** Behind the last whole line, or else behind a whole character of UTF-8. */
function cutAt(bytes: Buffer, most: number): number {
  const newline = bytes.lastIndexOf(NEWLINE, most - 1);
  if (newline !== -1) return newline + 1;
  let at = most;
  while (at > 0 && ((bytes[at] as number) & 0xc0) === 0x80) at--;
  return at;
}
