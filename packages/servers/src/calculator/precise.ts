/**
 * Elementary functions, correctly rounded. The engine's own are not: it says `10 ** -5` is
 * 0.000009999999999999999. Here they are worked out in fixed point with 256 binary places.
 */

import { bitLength, integerSqrt, nearestFloat, shift, split } from "./ratio.ts";

const PLACES = 256;
const ONE = 1n << BigInt(PLACES);
/** Below this size of its argument, f(x) = x to the last digit of a float (sin, tan, asin, atan). */
const TINY = 2 ** -60;

const once = <T>(make: () => T): (() => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
const ln2 = once(() => 2n * inverseTangentSeries(ONE / 3n, 1n));

function multiply(a: bigint, b: bigint): bigint {
  return (a * b) >> BigInt(PLACES);
}

function toFixed(value: number): bigint {
  const { mantissa, exponent } = split(value);
  return shift(mantissa, exponent + PLACES);
}

function toFloat(fixed: bigint): number {
  return nearestFloat(fixed, ONE);
}

/** x + s·x³/3 + s²·x⁵/5 …: atanh for s = 1, atan for s = -1; fast for small x. */
function inverseTangentSeries(x: bigint, sign: 1n | -1n): bigint {
  const square = sign * multiply(x, x);
  let power = x;
  let sum = 0n;
  for (let n = 1n; power !== 0n && power !== -1n; n += 2n) {
    sum += power / n;
    power = multiply(power, square);
  }
  return sum;
}

/** π with some binary places more than usual (Machin). */
function piWith(extra: number): bigint {
  const one = ONE << BigInt(extra + 16);
  const arctanOfInverse = (n: bigint) => {
    let power = one / n;
    let sum = 0n;
    for (let k = 1n; power !== 0n; k += 2n) {
      sum += (k & 2n) === 0n ? power / k : -(power / k);
      power /= n * n;
    }
    return sum;
  };
  return (4n * (4n * arctanOfInverse(5n) - arctanOfInverse(239n))) >> 16n;
}
const pi = once(() => piWith(0));

/** ln(mantissa · 2 ** exponent), for a positive mantissa. */
function fixedLog(mantissa: bigint, exponent: number): bigint {
  const bits = bitLength(mantissa);
  let powers = exponent + bits;
  let m = shift(mantissa, PLACES - bits);
  // m is in [0.5, 1); bring it near 1, where the series is fast.
  if (m * 3n < ONE * 2n) {
    m <<= 1n;
    powers--;
  }
  const z = ((m - ONE) << BigInt(PLACES)) / (m + ONE);
  return 2n * inverseTangentSeries(z, 1n) + BigInt(powers) * ln2();
}

/** e ** power as a float; overflows to Infinity, underflows to 0. */
function floatExp(power: bigint): number {
  if (power > 1000n * ONE) return Infinity;
  if (power < -1000n * ONE) return 0;
  const [value, twos] = fixedExp(power);
  return twos >= 0 ? nearestFloat(value << BigInt(twos), ONE) : nearestFloat(value, ONE << BigInt(-twos));
}

/** e ** power as `value · 2 ** twos`, value near 1. */
function fixedExp(power: bigint): [value: bigint, twos: number] {
  const twos = power / ln2();
  const rest = (power - twos * ln2()) >> 8n;
  let term = ONE;
  let sum = ONE;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = multiply(term, rest) / n;
    sum += term;
  }
  for (let i = 0; i < 8; i++) sum = multiply(sum, sum);
  return [sum, Number(twos)];
}

export function exp(x: number): number {
  if (Number.isNaN(x) || Math.abs(x) > 1000) return Math.exp(x);
  return floatExp(toFixed(x));
}

/** Natural logarithm of a positive float or int, however large; NaN and Infinity are their own. */
export function log(x: number | bigint): number {
  return isSpecial(x) ? x : toFloat(logOf(x));
}

export function log2(x: number | bigint): number {
  return isSpecial(x) ? x : nearestFloat(logOf(x), ln2());
}

/** NaN or an infinity: no number that could be taken apart. */
export function isSpecial(x: number | bigint): x is number {
  return typeof x === "number" && !Number.isFinite(x);
}

function logOf(x: number | bigint): bigint {
  if (typeof x === "bigint") return fixedLog(x, 0);
  const { mantissa, exponent } = split(x);
  return fixedLog(mantissa, exponent);
}

/** base ** exponent for a positive finite base and a finite exponent. */
export function pow(base: number, exponent: number): number {
  if (Number.isInteger(exponent) && Math.abs(exponent) <= 64) return exactPower(base, exponent);
  const { mantissa, exponent: twos } = split(exponent);
  return floatExp(shift(logOf(base) * mantissa, twos));
}

function exactPower(base: number, exponent: number): number {
  const { mantissa, exponent: twos } = split(base);
  const size = Math.abs(exponent);
  const power = mantissa ** BigInt(size);
  const scale = 1n << BigInt(Math.abs(twos) * size);
  const [top, bottom] = twos >= 0 ? [power * scale, 1n] : [power, scale];
  return exponent >= 0 ? nearestFloat(top, bottom) : nearestFloat(bottom, top);
}

/** The length of a vector: the root of the sum of squares, with no overflow on the way. */
export function hypot(values: readonly number[]): number {
  if (values.some((value) => Math.abs(value) === Infinity)) return Infinity;
  if (values.some(Number.isNaN)) return NaN;
  const parts = values.filter((value) => value !== 0).map(split);
  if (parts.length === 0) return 0;
  const lowest = Math.min(...parts.map(({ exponent }) => exponent));
  let sum = 0n;
  for (const { mantissa, exponent } of parts) sum += (mantissa << BigInt(exponent - lowest)) ** 2n;
  const root = integerSqrt(sum << BigInt(PLACES));
  const twos = lowest - PLACES / 2;
  return twos >= 0 ? nearestFloat(root << BigInt(twos), 1n) : nearestFloat(root, 1n << BigInt(-twos));
}

/** sin and cos of a finite float, in fixed point. */
function sinCos(x: number): { sin: bigint; cos: bigint } {
  const { mantissa, exponent } = split(x);
  // As many more places of π as the number has before its point.
  const extra = Math.max(0, exponent + 53);
  const angle = shift(mantissa, exponent + PLACES + extra);
  const quarter = extra === 0 ? pi() / 2n : piWith(extra) / 2n;
  const turns = (2n * angle + quarter) / (2n * quarter) - (2n * angle + quarter < 0n ? 1n : 0n);
  const rest = (angle - turns * quarter) >> BigInt(extra);
  const sin = taylor(rest, rest, 1n);
  const cos = taylor(ONE, rest, 0n);
  switch (Number(turns & 3n)) {
    case 0:
      return { sin, cos };
    case 1:
      return { sin: cos, cos: -sin };
    case 2:
      return { sin: -sin, cos: -cos };
    default:
      return { sin: -cos, cos: sin };
  }
}

/** first − first·x²/((n+1)(n+2)) + …: sin from x and n = 1, cos from 1 and n = 0. */
function taylor(first: bigint, x: bigint, n: bigint): bigint {
  const square = multiply(x, x);
  let term = first;
  let sum = 0n;
  for (let k = n; term !== 0n && term !== -1n; k += 2n) {
    sum += term;
    term = -multiply(term, square) / ((k + 1n) * (k + 2n));
  }
  return sum;
}

export function sin(x: number): number {
  return Math.abs(x) < TINY ? x : toFloat(sinCos(x).sin);
}

export function cos(x: number): number {
  return toFloat(sinCos(x).cos);
}

export function tan(x: number): number {
  if (Math.abs(x) < TINY) return x;
  const { sin, cos } = sinCos(x);
  return nearestFloat(sin, cos);
}

/** The angle of a point whose coordinates are not both 0, from 0 to π. */
function angleOf(y: bigint, x: bigint): bigint {
  const steep = y > (x < 0n ? -x : x);
  const flat = x < 0n ? -x : x;
  let ratio = steep ? (flat << BigInt(PLACES)) / y : (y << BigInt(PLACES)) / flat;
  // tan(a/2) = tan a / (1 + √(1 + tan² a)): three times, for a fast series.
  for (let i = 0; i < 3; i++) {
    const root = integerSqrt((ONE + multiply(ratio, ratio)) << BigInt(PLACES));
    ratio = (ratio << BigInt(PLACES)) / (ONE + root);
  }
  let angle = 8n * inverseTangentSeries(ratio, -1n);
  if (steep) angle = pi() / 2n - angle;
  return x < 0n ? pi() - angle : angle;
}

/** Legs of the right triangle over 1 whose one leg is x, for -1 ≤ x ≤ 1. */
function otherLeg(x: bigint): bigint {
  return integerSqrt((ONE - x) * (ONE + x));
}

export function asin(x: number): number {
  if (Math.abs(x) < TINY) return x;
  const size = toFixed(Math.abs(x));
  const angle = toFloat(angleOf(size, otherLeg(size)));
  return x < 0 ? -angle : angle;
}

export function acos(x: number): number {
  const fixed = toFixed(x);
  return toFloat(angleOf(otherLeg(fixed), fixed));
}

export function atan(x: number): number {
  return Math.abs(x) < TINY ? x : atan2(x, 1);
}

export function atan2(y: number, x: number): number {
  const ratio = Math.abs(y / x);
  // Axes, infinities and extremes need no series.
  if (!(ratio > TINY && ratio < 1 / TINY)) return Math.atan2(y, x);
  const up = split(Math.abs(y));
  const along = split(x);
  const lowest = Math.min(up.exponent, along.exponent);
  const scaled = (part: { mantissa: bigint; exponent: number }) =>
    part.mantissa << BigInt(part.exponent - lowest);
  const angle = toFloat(angleOf(scaled(up), scaled(along)));
  return y < 0 ? -angle : angle;
}

/** The exact sum, rounded once. Infinities and NaN add as floats do. */
export function sum(values: readonly number[]): number {
  if (!values.every(Number.isFinite)) return values.reduce((total, value) => total + value, 0);
  const parts = values.map(split);
  const lowest = Math.min(0, ...parts.map(({ exponent }) => exponent));
  let total = 0n;
  for (const { mantissa, exponent } of parts) total += mantissa << BigInt(exponent - lowest);
  return nearestFloat(total, 1n << BigInt(-lowest));
}
