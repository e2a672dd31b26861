/** Values between a database and JSON, with nothing lost: what a JSON number cannot hold exactly is text. */

/** Bytes, in base64. */
export interface Bytes {
  base64: string;
}

/** A value as it is answered: an integer beyond 2^53, an infinity or NaN is text. */
export type Cell = string | number | boolean | null | Bytes;

export type Row = Cell[];

export interface Column {
  name: string;
  /** As the engine calls it; null for an expression in SQLite. */
  type: string | null;
}

/** The values of a statement's parameters, by position or by name. */
export type Parameters = readonly Cell[] | Readonly<Record<string, Cell>>;

/** An integer as a number where that is exact, else as its digits. */
export function integerCell(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** A float as a number where JSON has one, else as text: `Infinity`, `-Infinity`, `NaN`, `-0`. */
export function floatCell(value: number): number | string {
  if (Object.is(value, -0)) return "-0";
  return Number.isFinite(value) ? value : String(value);
}

export function bytesCell(value: Uint8Array): Bytes {
  return { base64: Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64") };
}

export function bytesOf({ base64 }: Bytes): Buffer {
  return Buffer.from(base64, "base64");
}
