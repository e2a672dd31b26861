/** Text from elsewhere, made safe to show: nothing in it moves the cursor, hides, or reverses what is read. */

import { withoutEscapes } from "@patchbay/core/escapes";

/**
 * C0 and C1 but tab and newline; soft hyphen, bidi and zero-width marks, fillers that show nothing; variation selectors
 * that vary nothing; halves of surrogates; the tag and supplementary selector planes.
 */
const INVISIBLE =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB]|\u034F|[\u17B4\u17B5]|[\u180B-\u180D\u180F]|[\uFE00-\uFE0D]|(?<!\p{Emoji})[\uFE0E\uFE0F]|[\u{1D173}-\u{1D17A}]|[\u{E0000}-\u{E0FFF}]|\p{Surrogate}/gu;

/** The text without escape sequences, control characters and invisible characters. */
export function visible(text: string): string {
  return withoutEscapes(text).replace(INVISIBLE, "");
}

/** The text with each of them spelled, as `\u{202e}`: where somebody decides by what they read. */
export function spelled(text: string): string {
  return text.replace(INVISIBLE, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}

/** How many invisible characters a text holds, but those of escape sequences and of line ends. */
export function hiddenIn(text: string): number {
  return withoutEscapes(text).replaceAll("\r\n", "\n").match(INVISIBLE)?.length ?? 0;
}

/** The same on one line: for names, titles and arguments in a list. */
export function visibleLine(text: string): string {
  return visible(text.replace(/\s+/g, " ")).trim();
}

/** JSON whose strings keep every character, the invisible ones spelled as `\uXXXX`. */
export function visibleJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? "null";
  return json.replace(INVISIBLE, (characters) =>
    // By UTF-16 unit, as JSON spells them. JSON.stringify's own line breaks are no part of the class.
    Array.from(
      { length: characters.length },
      (_, index) => `\\u${characters.charCodeAt(index).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

const MAX_NAME = 80;
const MAX_NAMES = 50;

/** A name that somebody else chose, on one line, and cut where nobody reads on. */
export function visibleName(name: string): string {
  const line = visibleLine(name.length > 10 * MAX_NAME ? name.slice(0, 10 * MAX_NAME) : name);
  return line.length < MAX_NAME ? line : `${line.slice(0, MAX_NAME - 1)}…`;
}

/** `a, b, c`: the first names of a list, each as `visibleName` has it, and how many more there are. */
export function visibleNames(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).map(visibleName).join(", ");
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}
