/** Python's two kinds of number: an int is a bigint here, a float is a number. */

import { CalculatorError } from "./limits.ts";
import { bitLength, split } from "./ratio.ts";

export type Value = bigint | number;

/** What a function may be given: a number, or a list of them. */
export type Operand = Value | readonly Value[];

export function isInt(value: Value): value is bigint {
  return typeof value === "bigint";
}

/** Python's name for the kind of a value. */
export function typeName(value: Operand): "int" | "float" | "list" {
  if (typeof value === "bigint") return "int";
  return typeof value === "number" ? "float" : "list";
}

/** A value as a float. An int beyond the largest float is an error, as in Python. */
export function toFloat(value: Value): number {
  const float = Number(value);
  if (isInt(value) && !Number.isFinite(float)) throw new CalculatorError("int too large to convert to float");
  return float;
}

/** A float cut to its whole part, exactly. */
export function toInt(value: Value): bigint {
  if (isInt(value)) return value;
  if (Number.isNaN(value)) throw new CalculatorError("cannot convert float NaN to integer");
  if (!Number.isFinite(value)) throw new CalculatorError("cannot convert float infinity to integer");
  return BigInt(Math.trunc(value));
}

/** A value as Python's `repr` writes it: `1.0`, `1e+16`, `-0.0`, `inf`; ints whole. */
export function repr(value: Value): string {
  return isInt(value) ? value.toString() : reprFloat(value);
}

function reprFloat(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  // Both languages take the shortest digits that read back as the same float; they lay them out differently.
  const [coefficient = "", power = ""] = Math.abs(value).toExponential().split("e");
  const sign = value < 0 ? "-" : "";
  const exponent = Number(power);
  const digits = coefficient.replace(".", "");
  if (exponent < -4 || exponent >= 16) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${coefficient}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

/** Rounds to a whole number, ties to even. */
export function roundToInt(value: Value): bigint {
  if (isInt(value)) return value;
  const below = toInt(Math.floor(value));
  const rest = value - Math.floor(value);
  if (rest > 0.5 || (rest === 0.5 && (below & 1n) === 1n)) return below + 1n;
  return below;
}

/** Rounds to some decimal places, or to tens where `places` is negative; an exact tie goes to even. */
export function roundToPlaces(value: Value, places: number): Value {
  if (isInt(value)) {
    if (places >= 0) return value;
    const digits = (bitLength(value) * 30103) / 100_000 + 1;
    return -places > digits + 1 ? 0n : halfEven(value, 10n ** BigInt(-places)) * 10n ** BigInt(-places);
  }
  if (!Number.isFinite(value) || value === 0 || places > 400) return value;
  if (places < -310) return value < 0 ? -0 : 0;
  const { mantissa, exponent } = split(value);
  const tens = 10n ** BigInt(Math.abs(places));
  const twos = 2n ** BigInt(Math.abs(exponent));
  let top = mantissa;
  let bottom = 1n;
  if (exponent >= 0) top *= twos;
  else bottom *= twos;
  if (places >= 0) top *= tens;
  else bottom *= tens;
  const rounded = Number(`${halfEven(top, bottom)}e${-places}`);
  if (!Number.isFinite(rounded)) throw new CalculatorError("rounded value too large to represent");
  return rounded === 0 && value < 0 ? -0 : rounded;
}

/** The whole number nearest to `top / bottom` (bottom positive), ties to even. */
function halfEven(top: bigint, bottom: bigint): bigint {
  const below = floorDivide(top, bottom);
  const twice = 2n * (top - below * bottom);
  return twice > bottom || (twice === bottom && (below & 1n) === 1n) ? below + 1n : below;
}

/** Division of ints rounded down. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}
