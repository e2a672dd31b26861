/** Finds text in files. A regular expression runs under a clock, which stops one that would never end. */

import { createContext, Script } from "node:vm";
import { BeyondLimitError, type FilesLimits } from "./limits.ts";

const MAX_PATTERN = 1000;

/** Where something was found: characters from the start of a text. */
export interface Found {
  readonly at: number;
  readonly length: number;
}

/** Finds in each text of a batch, in order; at most so many in all. */
export type Finder = (texts: readonly string[], most: number) => Found[][];

export interface Wanted {
  readonly text: string;
  readonly regex: boolean;
  readonly caseSensitive: boolean;
}

/** @throws Error when the expression is none */
export function finderOf({ text, regex, caseSensitive }: Wanted, { patternTimeout }: FilesLimits): Finder {
  if (text.length > MAX_PATTERN)
    throw new Error(`what is searched for has at most ${MAX_PATTERN} characters`);
  const flags = caseSensitive ? "gmu" : "gmui";
  // What is meant as it is goes through a text once, whatever the text.
  if (!regex) return (texts, most) => findIn(texts, most, new RegExp(escaped(text), flags));
  const source = sourceOf(text, flags);
  const script = new Script(`(${findIn})(texts, most, new RegExp(source, flags))`);
  const context = createContext(Object.create(null));
  return (texts, most) => {
    Object.assign(context, { texts, most, source, flags });
    try {
      return script.runInContext(context, { timeout: patternTimeout });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      const advice = " ms; write one without repetitions in repetitions, or search for plain text";
      throw new BeyondLimitError(
        "patternTimeout",
        patternTimeout,
        "the regular expression takes longer",
        advice,
      );
    }
  };
}

/** Stands for itself: its text is run in a context of its own, too. */
function findIn(texts: readonly string[], most: number, pattern: RegExp): Found[][] {
  let left = most;
  return texts.map((text) => {
    const found: Found[] = [];
    pattern.lastIndex = 0;
    while (left > 0) {
      const match = pattern.exec(text);
      if (match === null) break;
      const { index: at } = match;
      const { length } = match[0];
      found.push({ at, length });
      left--;
      // One match of a line is enough; and an empty one would be found for ever.
      const newline = text.indexOf("\n", Math.max(at, at + length - 1));
      if (newline === -1) break;
      pattern.lastIndex = newline + 1;
    }
    return found;
  });
}

function sourceOf(text: string, flags: string): string {
  try {
    return new RegExp(text, flags).source;
  } catch (error) {
    throw new Error(`the regular expression is not valid: ${(error as Error).message}`);
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
