/**
 * An answer that was parsed and found right. One that differs from it in nothing but its number is right too: most
 * answers need not be parsed, and the load stays cheaper than the server.
 */

import { FIRST_NUMBER } from "./messages.mjs";

const DIGITS = String(FIRST_NUMBER).length;

export class KnownAnswer {
  /** The text without its number: what comes before, between and after. */
  pieces;

  /** @param {string} text @param {number} n */
  constructor(text, n) {
    this.pieces = text.split(String(n));
  }

  /** The number of an answer that is this one but for its number; else undefined. */
  numberOf(text) {
    const at = this.pieces[0].length;
    const digits = text.slice(at, at + DIGITS);
    const n = Number(digits);
    return Number.isInteger(n) && this.pieces.join(digits) === text ? n : undefined;
  }
}
