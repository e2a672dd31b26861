/**
 * Functions that the C library, and so Python, makes of simpler ones: the same formulas (fdlibm), with
 * the correctly rounded exp and log. They err as it errs, which is what makes the last digit agree.
 */

import { exp, isSpecial, log } from "./precise.ts";
import { bitLength, shift, split } from "./ratio.ts";

const LOG10_2_HIGH = 0.30102999566361177;
const LOG10_2_LOW = 3.694239077158931e-13;
const LARGE = 2 ** 28;

/** log10 of a positive float or int, however large; NaN and Infinity are their own. */
export function log10(x: number | bigint): number {
  if (isSpecial(x)) return x;
  const { mantissa, exponent } = typeof x === "bigint" ? { mantissa: x, exponent: 0 } : split(x);
  const bits = bitLength(mantissa);
  const twos = exponent + bits - 1;
  const y = twos < 0 ? twos + 1 : twos;
  // x = near · 2 ** y, with near in [1, 2), or in [0.5, 1) where y counts one up.
  const near = Number(shift(mantissa, 64 - bits)) * 2 ** (twos < 0 ? -64 : -63);
  return y * LOG10_2_LOW + Math.LOG10E * log(near) + y * LOG10_2_HIGH;
}

export function cosh(x: number): number {
  const size = Math.abs(x);
  if (!(size < 700)) return Math.cosh(x);
  if (size < 0.5 * Math.LN2) {
    const t = Math.expm1(size);
    const w = 1 + t;
    return 1 + (t * t) / (w + w);
  }
  const t = exp(size);
  return size < 22 ? 0.5 * t + 0.5 / t : 0.5 * t;
}

export function sinh(x: number): number {
  const size = Math.abs(x);
  if (!(size > 22 && size < 700)) return Math.sinh(x);
  return x < 0 ? -0.5 * exp(size) : 0.5 * exp(size);
}

export function asinh(x: number): number {
  const size = Math.abs(x);
  if (!(size > 2 && size < LARGE)) return Math.asinh(x);
  const value = log(2 * size + 1 / (Math.sqrt(size * size + 1) + size));
  return x < 0 ? -value : value;
}

export function acosh(x: number): number {
  if (!(x > 2 && x < LARGE)) return Math.acosh(x);
  return log(2 * x - 1 / (x + Math.sqrt(x * x - 1)));
}
