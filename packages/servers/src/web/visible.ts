/** Text from the web without what nobody sees: it could tell a model what it hides from a reader. */

import { withoutEscapes } from "@patchbay/core/escapes";

/**
 * C0 and C1 but tab and newline; and all that Unicode has shown as nothing (soft hyphens, bidi controls, zero-width marks,
 * fillers, tags, supplementary selectors), but for joiners and selectors.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\uFFF9-\uFFFB]|(?!\u200C|\u200D|[\u180B-\u180D\u180F]|[\uFE00-\uFE0F])\p{Default_Ignorable_Code_Point}/gu;

/** Joiners that join nothing: between letters of scripts that need them, and in emoji, one is part of the text. */
const LOOSE_JOINERS = /(?<![\p{L}\p{M}\p{Emoji}])[\u200C\u200D]|[\u200C\u200D](?![\p{L}\p{M}\p{Emoji}])/gu;

/** A selector chooses how the one character before it looks; a row of them spells something. */
const LOOSE_SELECTORS = /(?<=[\u180B-\u180D\u180F\uFE00-\uFE0F])[\u180B-\u180D\u180F\uFE00-\uFE0F]+/gu;

/** The text with line ends of one kind, and without escape sequences and invisible characters. */
export function visible(text: string): string {
  return withoutEscapes(text)
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
