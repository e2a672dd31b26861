/** A stream that a mark divides: what comes before it is passed on, whatever pieces it comes in. */

/** Looks for one mark after another in what a stream brings. */
export class MarkedStream {
  #mark: Buffer | undefined;
  #pending: Buffer = Buffer.alloc(0);
  #onChunk: (chunk: Buffer) => void = () => {};
  #onMark: () => void = () => {};

  /** From now on passes what comes to `onChunk`, until the mark: then `onMark` is told. */
  expect(mark: string, onChunk: (chunk: Buffer) => void, onMark: () => void): void {
    this.#mark = Buffer.from(mark);
    this.#onChunk = onChunk;
    this.#onMark = onMark;
  }

  /** What no mark can follow any more. */
  flush(): void {
    if (this.#pending.length > 0) this.#onChunk(this.#pending);
    this.#pending = Buffer.alloc(0);
  }

  push(chunk: Buffer): void {
    if (this.#mark === undefined) return;
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const at = bytes.indexOf(this.#mark);
    const certain = at === -1 ? bytes.length - startOf(this.#mark, bytes) : at;
    if (certain > 0) this.#onChunk(bytes.subarray(0, certain));
    this.#pending = at === -1 ? Buffer.from(bytes.subarray(certain)) : Buffer.alloc(0);
    if (at === -1) return;
    this.#mark = undefined;
    this.#onMark();
  }
}

/** How many bytes at the end may be the start of a mark, which begins with a byte that it has only there and at its end. */
function startOf(mark: Buffer, bytes: Buffer): number {
  const at = bytes.lastIndexOf(mark.subarray(0, 1));
  const length = bytes.length - at;
  return at !== -1 && length < mark.length && mark.subarray(0, length).equals(bytes.subarray(at))
    ? length
    : 0;
}
