/** Rows of one answer, taken in until a bound is reached. */

import type { Rows } from "./database.ts";
import { type DatabaseLimits, limitExceeded } from "./limits.ts";
import type { Row } from "./values.ts";

export class RowBudget {
  readonly rows: Row[] = [];
  readonly #maxRows: number;
  readonly #limits: Pick<DatabaseLimits, "maxBytes">;
  #bytes = 0;
  #cutBy: Rows["cutBy"];

  constructor(maxRows: number, limits: Pick<DatabaseLimits, "maxBytes">) {
    this.#maxRows = maxRows;
    this.#limits = limits;
  }

  /** The limit that left rows out. */
  get cutBy(): Rows["cutBy"] {
    return this.#cutBy;
  }

  /** How many rows there is room for, and one more, by which it is known that there are more. */
  get wanted(): number {
    return this.#maxRows - this.rows.length + 1;
  }

  /**
   * Takes a row; false when it, and all that follow, are left out.
   *
   * @throws DatabaseError when the first row alone is too large
   */
  take(row: Row): boolean {
    if (this.#cutBy !== undefined) return false;
    if (this.rows.length >= this.#maxRows) return this.#cut("maxRows");
    this.#bytes += Buffer.byteLength(JSON.stringify(row));
    if (this.#bytes > this.#limits.maxBytes) {
      if (this.rows.length === 0) throw rowTooLarge(this.#limits);
      return this.#cut("maxBytes");
    }
    this.rows.push(row);
    return true;
  }

  #cut(limit: "maxRows" | "maxBytes"): false {
    this.#cutBy = limit;
    return false;
  }
}

export function rowTooLarge(limits: Pick<DatabaseLimits, "maxBytes">): Error {
  return limitExceeded(
    "maxBytes",
    limits,
    "a row has more bytes",
    "select fewer columns, or a part of the large one with substr",
  );
}
