/** Floats and exact ratios: a float taken apart, and the float nearest to a ratio of two integers. */

const view = new DataView(new ArrayBuffer(8));

/** A finite float as `mantissa * 2 ** exponent`, exactly. */
export function split(value: number): { mantissa: bigint; exponent: number } {
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xf_ffff_ffff_ffffn;
  const mantissa = biased === 0 ? fraction : fraction | 0x10_0000_0000_0000n;
  return { mantissa: value < 0 ? -mantissa : mantissa, exponent: Math.max(biased, 1) - 1075 };
}

/** `2 ** exponent` for any exponent that a float can have (-1074 to 1023). */
function powerOfTwo(exponent: number): number {
  view.setBigUint64(0, exponent >= -1022 ? BigInt(exponent + 1023) << 52n : 1n << BigInt(exponent + 1074));
  return view.getFloat64(0);
}

/** How many binary digits the size of an integer has; 0 for 0. */
export function bitLength(value: bigint): number {
  if (value === 0n) return 0;
  const hex = (value < 0n ? -value : value).toString(16);
  return hex.length * 4 - (Math.clz32(Number.parseInt(hex.charAt(0), 16)) - 28);
}

/** Shifts left, or right where `by` is negative. */
export function shift(value: bigint, by: number): bigint {
  return by >= 0 ? value << BigInt(by) : value >> BigInt(-by);
}

/** The largest integer whose square is at most `value` (not negative). */
export function integerSqrt(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((bitLength(value) + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/**
 * The float nearest to `dividend / divisor`, ties to even; `Infinity` beyond the largest.
 *
 * @param divisor not 0
 */
export function nearestFloat(dividend: bigint, divisor: bigint): number {
  if (dividend === 0n) return 0;
  const negative = dividend < 0n !== divisor < 0n;
  const a = dividend < 0n ? -dividend : dividend;
  const b = divisor < 0n ? -divisor : divisor;
  // A quotient of 55 or 56 bits holds the float and what decides its rounding.
  const scale = 55 - (bitLength(a) - bitLength(b));
  const [top, bottom] = scale >= 0 ? [a << BigInt(scale), b] : [a, b << BigInt(-scale)];
  const quotient = top / bottom;
  const exact = quotient * bottom === top;
  const dropped = Math.max(bitLength(quotient) - 53, scale - 1074);
  const exponent = dropped - scale;
  if (exponent > 971) return negative ? -Infinity : Infinity;
  let mantissa = quotient >> BigInt(dropped);
  const rest = quotient - (mantissa << BigInt(dropped));
  const half = 1n << BigInt(dropped - 1);
  if (rest > half || (rest === half && (!exact || (mantissa & 1n) === 1n))) mantissa++;
  const size = Number(mantissa) * powerOfTwo(exponent);
  return negative ? -size : size;
}
