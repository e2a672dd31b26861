/** What a command wrote: kept up to a bound, its beginning and its end; and told while it comes. */

import { StringDecoder } from "node:string_decoder";

/** One of stdout and stderr. */
export class KeptOutput {
  readonly #half: number;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #decoder = new StringDecoder("utf8");
  readonly #start: Buffer[] = [];
  #startBytes = 0;
  #end: Buffer[] = [];
  #endBytes = 0;
  #size = 0;
  #told = 0;

  /**
   * @param maxBytes that are kept
   * @param onText is told the text of the first `maxBytes` bytes, as it comes
   */
  constructor(maxBytes: number, onText?: (text: string) => void) {
    this.#half = Math.ceil(maxBytes / 2);
    this.#onText = onText;
  }

  push(chunk: Buffer): void {
    this.#size += chunk.length;
    this.#tell(chunk);
    const room = this.#half - this.#startBytes;
    if (room > 0) {
      // A copy: what is kept must not hold on to the whole of what was read.
      this.#start.push(Buffer.from(chunk.subarray(0, room)));
      this.#startBytes += Math.min(room, chunk.length);
    }
    const rest = chunk.subarray(Math.max(room, 0));
    if (rest.length === 0) return;
    this.#end.push(Buffer.from(rest.subarray(Math.max(0, rest.length - this.#half))));
    this.#endBytes += Math.min(rest.length, this.#half);
    if (this.#endBytes > 4 * this.#half) this.#trim();
  }

  #tell(chunk: Buffer): void {
    const room = 2 * this.#half - this.#told;
    if (this.#onText === undefined || room <= 0) return;
    this.#told += Math.min(room, chunk.length);
    const text = this.#decoder.write(chunk.subarray(0, room));
    if (text !== "") this.#onText(text);
  }

  #trim(): void {
    const end = Buffer.concat(this.#end);
    this.#end = [Buffer.from(end.subarray(Math.max(0, end.length - this.#half)))];
    this.#endBytes = Math.min(end.length, this.#half);
  }

  get truncated(): boolean {
    return this.#size > 2 * this.#half;
  }

  /** What was kept; between its halves it says how much was left out. */
  get text(): string {
    this.#trim();
    if (!this.truncated) return Buffer.concat([...this.#start, ...this.#end]).toString("utf8");
    const left = this.#size - 2 * this.#half;
    const gap = `\n[… ${left} bytes were left out: maxOutputBytes is ${2 * this.#half} …]\n`;
    return Buffer.concat(this.#start).toString("utf8") + gap + Buffer.concat(this.#end).toString("utf8");
  }
}
