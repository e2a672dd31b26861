/** Functions of whole numbers, each step of them taken from the budget before it is made. */

import { type Budget, CalculatorError } from "./limits.ts";
import { modulo } from "./operators.ts";
import { bitLength, integerSqrt } from "./ratio.ts";

export function factorial(n: bigint, budget: Budget): bigint {
  if (n < 0n) throw new CalculatorError("factorial() not defined for negative values");
  return fallingProduct(n, n, budget);
}

/** Ways to choose k of n, in order. */
export function permutations(n: bigint, k: bigint, budget: Budget): bigint {
  checkCounts(n, k);
  return k > n ? 0n : fallingProduct(n, k, budget);
}

/** Ways to choose k of n. */
export function combinations(n: bigint, k: bigint, budget: Budget): bigint {
  checkCounts(n, k);
  if (k > n) return 0n;
  const fewer = k < n - k ? k : n - k;
  let result = 1n;
  for (let i = 1n; i <= fewer; i++) {
    budget.spend(1);
    result = budget.checked((result * (n - fewer + i)) / i);
  }
  return result;
}

/** n · (n − 1) · … with some factors. */
function fallingProduct(n: bigint, factors: bigint, budget: Budget): bigint {
  let result = 1n;
  for (let i = 0n; i < factors; i++) {
    budget.spend(1);
    result = budget.checked(result * (n - i));
  }
  return result;
}

function checkCounts(n: bigint, k: bigint): void {
  if (n < 0n) throw new CalculatorError("n must be a non-negative integer");
  if (k < 0n) throw new CalculatorError("k must be a non-negative integer");
}

export function greatestCommonDivisor(values: readonly bigint[], budget: Budget): bigint {
  return values.reduce((divisor, value) => divisorOfTwo(divisor, value, budget), 0n);
}

function divisorOfTwo(a: bigint, b: bigint, budget: Budget): bigint {
  let [larger, smaller] = [absolute(a), absolute(b)];
  while (smaller !== 0n) {
    budget.spend(1);
    [larger, smaller] = [smaller, larger % smaller];
  }
  return larger;
}

export function leastCommonMultiple(values: readonly bigint[], budget: Budget): bigint {
  return values.reduce((multiple, value) => {
    if (multiple === 0n || value === 0n) return 0n;
    return budget.checked((multiple / divisorOfTwo(multiple, value, budget)) * absolute(value));
  }, 1n);
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

export function squareRoot(n: bigint): bigint {
  if (n < 0n) throw new CalculatorError("isqrt() argument must be nonnegative");
  return integerSqrt(n);
}

/** base ** exponent % modulus, by squaring; a negative exponent asks for the inverse. */
export function powerModulo(base: bigint, exponent: bigint, modulus: bigint, budget: Budget): bigint {
  if (modulus === 0n) throw new CalculatorError("pow() 3rd argument cannot be 0");
  const size = absolute(modulus);
  let square = modulo(exponent < 0n ? inverse(base, size, budget) : base, size);
  let result = 1n;
  // A product takes the square of its length; one of 1,000 bits or less is one step.
  const cost = 1 + (bitLength(size) >> 10) ** 2;
  // Bits are read from text: shifting the exponent itself at each step would make this quadratic.
  const bits = absolute(exponent).toString(2);
  for (let i = bits.length - 1; i >= 0; i--) {
    budget.spend(cost);
    if (bits.charAt(i) === "1") result = (result * square) % size;
    if (i > 0) square = (square * square) % size;
  }
  return modulo(result, modulus);
}

/** The number that `value` is multiplied by to give 1, modulo `modulus` (Euclid). */
function inverse(value: bigint, modulus: bigint, budget: Budget): bigint {
  let [previous, current] = [modulo(value, modulus), modulus];
  let [factor, nextFactor] = [1n, 0n];
  while (current !== 0n) {
    budget.spend(1);
    const quotient = previous / current;
    [previous, current] = [current, previous - quotient * current];
    [factor, nextFactor] = [nextFactor, factor - quotient * nextFactor];
  }
  if (previous !== 1n) throw new CalculatorError("base is not invertible for the given modulus");
  return factor;
}
