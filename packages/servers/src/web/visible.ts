/** Text from the web without what nobody sees: it could tell a model what it hides from a reader. */

import { stripVTControlCharacters } from "node:util";

/**
 * C0 and C1 but tab and newline; soft hyphens, bidi controls and zero-width marks; the planes of tags and supplementary
 * selectors; fillers that look like nothing.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;

/** Joiners that join nothing: between letters of scripts that need them, and in emoji, one is part of the text. */
const LOOSE_JOINERS = /(?<![\p{L}\p{M}\p{Emoji}])[\u200C\u200D]|[\u200C\u200D](?![\p{L}\p{M}\p{Emoji}])/gu;

/** A selector chooses how the one character before it looks; a row of them spells something. */
const LOOSE_SELECTORS = /(?<=[\uFE00-\uFE0F])[\uFE00-\uFE0F]+/gu;

/** The text with line ends of one kind, and without escape sequences and invisible characters. */
export function visible(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n")
    .replace(INVISIBLE, "")
    .replace(LOOSE_JOINERS, "")
    .replace(LOOSE_SELECTORS, "");
}

/** The same on one line, as far as `most` characters. */
export function visibleLine(text: string, most: number): string {
  const line = visible(text).replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`;
}
