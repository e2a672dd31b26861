/** A part of a long text: from a place, as far as so many characters, cut where it hurts least. */

export interface Excerpt {
  text: string;
  /** Where the rest begins, if there is more. */
  next: number | undefined;
}

/** A line's end in the last part of it is a better place to cut. */
const LAST_PART = 0.2;

/** @param start the first character, as `next` said; characters are counted as strings count them */
export function excerpt(text: string, start: number, most: number): Excerpt {
  const from = isInside(text, start) ? start - 1 : start;
  if (from + most >= text.length) return { text: text.slice(from), next: undefined };
  let end = from + most;
  const line = text.lastIndexOf("\n", end - 1) + 1;
  if (line > from + most * (1 - LAST_PART)) end = line;
  else if (isInside(text, end)) end--;
  return { text: text.slice(from, end), next: end };
}

/** Whether a place is between the two halves of one character. */
function isInside(text: string, place: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(place - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(place));
}
