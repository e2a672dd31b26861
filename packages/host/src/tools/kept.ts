/** Results that were too long to be given whole: kept for a conversation, within bounds, and read on by a handle. */

export interface KeepOptions {
  /** Results that are kept; the oldest goes first. Default 32. */
  maxKeptResults?: number;
  /** Characters that are kept in all; the oldest result goes first. Default 20,000,000. */
  maxKeptCharacters?: number;
}

/** A result's text, and where it comes from. */
export interface KeptText {
  text: string;
  server: string;
  untrusted: boolean;
}

/** What a conversation can still read of. */
export interface KeptResults {
  /** Keeps a text; gives the handle that names it, or nothing when it is longer than all that may be kept. */
  keep(kept: KeptText): string | undefined;
  /** What was kept; nothing when it was never there, or had to make room. */
  get(handle: string): KeptText | undefined;
  /** Gives no handle again that a conversation has of an earlier program. */
  reserve(handles: Iterable<string>): void;
  readonly size: number;
}

const PREFIX = "result_";

/** Makes room for the results of one conversation. */
export function keepResults(options: KeepOptions = {}): KeptResults {
  const { maxKeptResults = 32, maxKeptCharacters = 20_000_000 } = options;
  const texts = new Map<string, KeptText>();
  let characters = 0;
  let count = 0;
  return {
    keep(kept) {
      const { text } = kept;
      if (text.length > maxKeptCharacters || maxKeptResults < 1) return undefined;
      for (const [handle, oldest] of texts) {
        if (texts.size < maxKeptResults && characters + text.length <= maxKeptCharacters) break;
        texts.delete(handle);
        characters -= oldest.text.length;
      }
      const handle = `${PREFIX}${++count}`;
      texts.set(handle, kept);
      characters += text.length;
      return handle;
    },
    get: (handle) => texts.get(handle),
    reserve(handles) {
      for (const handle of handles) count = Math.max(count, Number(handle.replace(PREFIX, "")) || 0);
    },
    get size() {
      return texts.size;
    },
  };
}

export interface Passage {
  text: string;
  from: number;
  to: number;
}

/** Part of a text, `limit` characters at most, that cuts no character in two. */
export function passage(text: string, from: number, limit: number): Passage {
  const isSecondHalf = (at: number) => /[\udc00-\udfff]/.test(text[at] ?? "");
  const start = isSecondHalf(from) ? from + 1 : from;
  let end = Math.min(text.length, start + limit);
  if (end < text.length && isSecondHalf(end)) end--;
  // At a limit of one there would be no end to a text of pairs.
  if (end <= start) end = Math.min(text.length, start + 2);
  return { text: text.slice(start, end), from: start, to: end };
}
