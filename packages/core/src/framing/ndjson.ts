/** Newline-delimited messages: pieces of text in, whole lines out, in linear time and bounded memory. */

/** Characters in one line. A message of stdio is one line (basic/transports/stdio). */
export const DEFAULT_MAX_LINE_LENGTH = 16 * 1024 * 1024;

/** Cuts a stream of text into lines. Empty lines are passed over; a `\r` before the newline is dropped. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (maxLineLength: number) => void;
  readonly #maxLineLength: number;
  #pieces: string[] = [];
  #length = 0;
  #skipping = false;

  /**
   * @param onTooLong called once for a line that passes `maxLineLength`; the rest of that line is skipped
   *   without being kept, and the next line is read as usual
   */
  constructor(
    onLine: (line: string) => void,
    onTooLong: (maxLineLength: number) => void,
    maxLineLength: number = DEFAULT_MAX_LINE_LENGTH,
  ) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
    this.#maxLineLength = maxLineLength;
  }

  /** Takes the next piece of text, cut anywhere. */
  push(text: string): void {
    let start = 0;
    for (;;) {
      const end = text.indexOf("\n", start);
      if (end === -1) break;
      // Most lines come whole.
      if (this.#pieces.length === 0 && !this.#skipping && end - start <= this.#maxLineLength) {
        this.#give(text.slice(start, end));
      } else {
        this.#keep(text.slice(start, end));
        this.#finish();
      }
      start = end + 1;
    }
    if (start < text.length) this.#keep(start === 0 ? text : text.slice(start));
  }

  /** The stream has ended: what is left without a newline is a line too. */
  end(): void {
    this.#finish();
  }

  #keep(piece: string): void {
    if (this.#skipping) return;
    this.#length += piece.length;
    if (this.#length > this.#maxLineLength) {
      this.#pieces = [];
      this.#skipping = true;
      this.#onTooLong(this.#maxLineLength);
      return;
    }
    this.#pieces.push(piece);
  }

  #finish(): void {
    const pieces = this.#pieces;
    const line = pieces.length === 1 ? (pieces[0] as string) : pieces.join("");
    if (pieces.length > 0) this.#pieces = [];
    this.#length = 0;
    this.#skipping = false;
    this.#give(line);
  }

  #give(line: string): void {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text.length > 0) this.#onLine(text);
  }
}
