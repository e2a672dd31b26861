/** Exact replacements in a text: each finds what it replaces once, or says why not. */

import { BeyondLimitError } from "./limits.ts";
import { quoted } from "./roots.ts";

/** Lines that are named of those in which something occurs. */
const MAX_LINES = 10;
/** Comparisons of lines that are made to find what is like what was not found. */
const MAX_COMPARED = 10_000_000;

export interface Edit {
  old_text: string;
  new_text: string;
  replace_all: boolean;
}

/**
 * The text with the edits made, one after another. In a file whose lines all end in CR LF, those of the edits do too.
 *
 * @param maxWriteBytes more characters than this are not made
 * @throws Error that says what to do, when an edit finds nothing or too much
 */
export function edited(text: string, edits: readonly Edit[], maxWriteBytes: number): string {
  const windows = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  return edits.reduce((before, edit, index) => {
    const which = edits.length === 1 ? "old_text" : `old_text of edit ${index + 1}`;
    return applied(before, windows ? withWindowsLines(edit) : edit, which, maxWriteBytes);
  }, text);
}

function withWindowsLines({ old_text, new_text, replace_all }: Edit): Edit {
  const convert = (text: string) => text.replace(/\r?\n/g, "\r\n");
  return { old_text: convert(old_text), new_text: convert(new_text), replace_all };
}

function applied(
  text: string,
  { old_text, new_text, replace_all }: Edit,
  which: string,
  most: number,
): string {
  const first = text.indexOf(old_text);
  if (first === -1) throw new Error(`${which} was not found${hint(text, old_text)}`);
  if (replace_all) {
    const { count } = occurrences(text, old_text);
    if (text.length + count * (new_text.length - old_text.length) > most)
      throw new BeyondLimitError("maxWriteBytes", most, "the file would have more bytes");
    return text.replaceAll(old_text, new_text.replaceAll("$", "$$$$"));
  }
  if (text.indexOf(old_text, first + 1) !== -1) {
    const { count, lines } = occurrences(text, old_text);
    throw new Error(
      `${which} occurs ${count > 1 ? `${count} times` : "more than once"}, at lines ${lines.join(", ")}` +
        `${count > lines.length ? ", …" : ""}; ` +
        "take in more of the lines around the one that is meant, or set replace_all",
    );
  }
  return text.slice(0, first) + new_text + text.slice(first + old_text.length);
}

/** How often a part occurs, and the lines of the first of them. */
function occurrences(text: string, part: string): { count: number; lines: number[] } {
  const lines: number[] = [];
  let count = 0;
  let line = 1;
  let counted = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) {
    count++;
    if (lines.length === MAX_LINES) continue;
    for (; counted < at; counted++) if (text.charCodeAt(counted) === 10) line++;
    lines.push(line);
  }
  return { count, lines };
}

/** Where something like it is: the same but for white space, or the same first line. */
function hint(text: string, wanted: string): string {
  const lines = text.split("\n");
  const parts = wanted.split("\n").map((line) => line.trim());
  const first = parts.findIndex((part) => part !== "");
  const start = parts[first];
  if (start === undefined) return "; it is white space alone";
  if (lines.length * parts.length > MAX_COMPARED) return "; read the file again, and copy it exactly";
  const trimmed = lines.map((line) => line.trim());
  const at = trimmed.findIndex((_, index) => parts.every((part, offset) => trimmed[index + offset] === part));
  if (at !== -1) return `; line ${at + 1} differs in white space alone: ${quoted(lines[at] as string)}`;
  const like = trimmed.indexOf(start);
  if (like === -1) return "; read the file again, and copy it exactly";
  return `; line ${like + 1} is like its line ${first + 1}, but what follows differs: read the file again from there`;
}
