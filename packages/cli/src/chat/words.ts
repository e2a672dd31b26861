/** A line of text → words, as a shell would have them, but for all that a shell puts in. */

const WORD = /(?:[^\s"']|"(?:\\.|[^"\\])*"?|'[^']*'?)+/g;
const PIECE = /"((?:\\.|[^"\\])*)"?|'([^']*)'?|([^"']+)/g;

/** `a "b c" d='e f'` → `a`, `b c`, `d=e f`. A quote that is not closed goes to the end. */
export function splitWords(text: string): string[] {
  return (text.match(WORD) ?? []).map((word) =>
    word.replace(PIECE, (_, double?: string, single?: string, plain?: string) =>
      double !== undefined ? double.replace(/\\(["\\])/g, "$1") : (single ?? plain ?? ""),
    ),
  );
}
