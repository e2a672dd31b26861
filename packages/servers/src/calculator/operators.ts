/** Python's arithmetic operators on ints and floats. */

import { type Budget, CalculatorError, limitExceeded } from "./limits.ts";
import { pow } from "./precise.ts";
import { bitLength, nearestFloat } from "./ratio.ts";
import { floorDivide, isInt, toFloat, type Value } from "./values.ts";

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";

/** Carries out `a operator b`. The error of a division by zero or an overflow is worded as Python words it. */
export function operate(operator: BinaryOperator, a: Value, b: Value, budget: Budget): Value {
  budget.spend(1);
  if (isInt(a) && isInt(b)) return operateInts(operator, a, b, budget);
  return operateFloats(operator, toFloat(a), toFloat(b));
}

export function negate(value: Value): Value {
  return -value;
}

function operateInts(operator: BinaryOperator, a: bigint, b: bigint, budget: Budget): Value {
  switch (operator) {
    case "+":
      return budget.checked(a + b);
    case "-":
      return budget.checked(a - b);
    case "*":
      return budget.checked(a * b);
    case "/":
      return divideInts(a, b);
    case "//":
      if (b === 0n) throw new CalculatorError("integer division or modulo by zero");
      return floorDivide(a, b);
    case "%":
      return modulo(a, b);
    case "**":
      return b < 0n ? powerOfFloats(toFloat(a), toFloat(b)) : powerOfInts(a, b, budget);
  }
}

function divideInts(a: bigint, b: bigint): number {
  if (b === 0n) throw new CalculatorError("division by zero");
  if (a === 0n) return b < 0n ? -0 : 0;
  const quotient = nearestFloat(a, b);
  if (!Number.isFinite(quotient)) {
    throw new CalculatorError("integer division result too large for a float");
  }
  return quotient;
}

/** The remainder with the sign of the divisor. */
export function modulo(a: bigint, b: bigint): bigint {
  if (b === 0n) throw new CalculatorError("integer modulo by zero");
  return a - floorDivide(a, b) * b;
}

function powerOfInts(base: bigint, exponent: bigint, budget: Budget): bigint {
  if (base >= -1n && base <= 1n) {
    if (exponent === 0n) return 1n;
    return base === -1n && (exponent & 1n) === 0n ? 1n : base;
  }
  const { limits } = budget;
  if (exponent > BigInt(limits.maxExponent)) {
    throw limitExceeded("maxExponent", limits, "the exponent of an integer is larger");
  }
  // At least this many bits; so nothing much larger than allowed is ever made.
  const bits = (bitLength(base) - 1) * Number(exponent);
  if (bits > limits.maxDigits * 3.33) throw budget.tooManyDigits();
  return budget.checked(base ** exponent);
}

function operateFloats(operator: BinaryOperator, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      if (b === 0) throw new CalculatorError("float division by zero");
      return a / b;
    case "//":
      if (b === 0) throw new CalculatorError("float floor division by zero");
      return floorDivideFloats(a, b);
    case "%":
      if (b === 0) throw new CalculatorError("float modulo");
      return moduloFloats(a, b);
    case "**":
      return powerOfFloats(a, b);
  }
}

function moduloFloats(a: number, b: number): number {
  const remainder = a % b;
  if (remainder === 0) return b < 0 ? -0 : 0;
  return remainder < 0 !== b < 0 ? remainder + b : remainder;
}

function floorDivideFloats(a: number, b: number): number {
  let remainder = a % b;
  let quotient = (a - remainder) / b;
  if (remainder !== 0 && b < 0 !== remainder < 0) {
    remainder += b;
    quotient -= 1;
  }
  if (quotient === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  const floor = Math.floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

/** Floats raised to floats (C99 Annex F, as Python has it). */
export function powerOfFloats(base: number, exponent: number): number {
  if (exponent === 0 || base === 1) return 1;
  if (Number.isNaN(base) || Number.isNaN(exponent)) return NaN;
  if (base === 0 && exponent < 0 && exponent !== -Infinity) {
    throw new CalculatorError("0.0 cannot be raised to a negative power");
  }
  if (base === -1 && !Number.isFinite(exponent)) return 1;
  if (base === 0 || !Number.isFinite(base) || !Number.isFinite(exponent)) return base ** exponent;
  if (base < 0 && !Number.isInteger(exponent)) {
    throw new CalculatorError(
      "a negative number raised to a fraction is a complex number, and those are not supported",
    );
  }
  const size = pow(Math.abs(base), exponent);
  if (!Number.isFinite(size)) throw new CalculatorError("(34, 'Numerical result out of range')");
  return base < 0 && exponent % 2 !== 0 ? -size : size;
}
