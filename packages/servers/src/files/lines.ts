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
 * Lines `start` to `end`, from 1, as many as `maxReadBytes` holds: whole lines, or the beginning of one that is longer.
 *
 * @throws BeyondLimitError when they are behind `maxScannedBytes`
 */
export async function readLines(
  readAt: ReadAt,
  start: number,
  end: number,
  { maxReadBytes, maxScannedBytes }: FilesLimits,
  signal: AbortSignal,
): Promise<Lines> {
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
    let from = line >= start ? 0 : bytes.length;
    let at = 0;
    while (line <= end && at < bytes.length) {
      const newline = bytes.indexOf(NEWLINE, at);
      at = newline === -1 ? bytes.length : newline + 1;
      if (newline !== -1 && ++line === start) from = at;
    }
    const wanted = bytes.subarray(from, Math.max(from, at));
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
export async function countLines(
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

/** Lines of a text that is in memory. */
export function linesOf(text: string, start: number, end: number, limits: FilesLimits): Lines {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const wanted = lines.slice(start - 1, end).map((line) => `${line}\n`);
  return {
    ...fitting(Buffer.from(wanted.join("")), start, limits.maxReadBytes),
    totalLines: lines.length,
  };
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
