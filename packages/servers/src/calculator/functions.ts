/** The functions and constants that an expression may use: Python's built-in ones and those of `math`. */

import * as integers from "./integers.ts";
import { type Budget, CalculatorError } from "./limits.ts";
import { operate, powerOfFloats } from "./operators.ts";
import * as platform from "./platform.ts";
import * as precise from "./precise.ts";
import {
  isInt,
  type Operand,
  roundToInt,
  roundToPlaces,
  toFloat,
  toInt,
  typeName,
  type Value,
} from "./values.ts";

export type PythonFunction = (operands: readonly Operand[], budget: Budget) => Value;

/**
 * What a name stands for; `qualified` where it was written `math.name`.
 * The plain name finds a built-in first, so `pow(2, 3)` is 8 and `math.pow(2, 3)` is 8.0.
 */
export function lookUp(name: string, qualified: boolean): PythonFunction | number | undefined {
  return (qualified ? undefined : BUILT_IN.get(name)) ?? MATH.get(name) ?? BUILT_IN.get(name);
}

/** Takes a number of arguments within bounds, all of them numbers. */
function numbers(
  name: string,
  least: number,
  most: number,
  apply: (args: Value[], budget: Budget) => Value,
): [string, PythonFunction] {
  return [
    name,
    (operands, budget) => {
      if (operands.length < least || operands.length > most)
        throw wrongCount(name, least, most, operands.length);
      return apply(
        operands.map((operand) => numberOf(name, operand)),
        budget,
      );
    },
  ];
}

/** A function from one float to one float. */
function real(name: string, apply: (x: number) => number): [string, PythonFunction] {
  return numbers(name, 1, 1, ([x]) => apply(toFloat(x as Value)));
}

/** As `real`, where only some floats have an answer and a finite one may be too large. */
function partial(
  name: string,
  isInDomain: (x: number) => boolean,
  apply: (x: number) => number,
): [string, PythonFunction] {
  return real(name, (x) => {
    if (Number.isNaN(x)) return x;
    if (!isInDomain(x)) throw new CalculatorError("math domain error");
    const result = apply(x);
    if (Number.isFinite(x) && !Number.isFinite(result)) throw new CalculatorError("math range error");
    return result;
  });
}

/** A function of ints alone. */
function ints(
  name: string,
  least: number,
  most: number,
  apply: (args: bigint[], budget: Budget) => bigint,
): [string, PythonFunction] {
  return numbers(name, least, most, (args, budget) =>
    apply(
      args.map((arg) => intOf(arg)),
      budget,
    ),
  );
}

/** A function of a list of numbers. */
function ofList(
  name: string,
  apply: (items: readonly Value[], budget: Budget) => Value,
): [string, PythonFunction] {
  return [
    name,
    (operands, budget) => {
      if (operands.length !== 1) throw wrongCount(name, 1, 1, operands.length, ` (write ${name}([1, 2, 3]))`);
      return apply(listOf(name, operands[0] as Operand), budget);
    },
  ];
}

/** `min` and `max`: of one list, or of some numbers. */
function extreme(name: string, isBetter: (a: Value, b: Value) => boolean): [string, PythonFunction] {
  return [
    name,
    (operands) => {
      if (operands.length === 0) throw new CalculatorError(`${name} expected at least 1 argument, got 0`);
      const items =
        operands.length === 1
          ? listOf(name, operands[0] as Operand)
          : operands.map((operand) => numberOf(name, operand));
      const [first, ...rest] = items;
      if (first === undefined) throw new CalculatorError(`${name}() arg is an empty sequence`);
      return rest.reduce((best, item) => (isBetter(item, best) ? item : best), first);
    },
  ];
}

function wrongCount(name: string, least: number, most: number, given: number, advice = ""): CalculatorError {
  const wanted =
    least === most
      ? `exactly ${least === 1 ? "one argument" : `${least} arguments`}`
      : most === Infinity
        ? `at least ${least} arguments`
        : `${least} to ${most} arguments`;
  return new CalculatorError(`${name}() takes ${wanted} (${given} given)${advice}`);
}

function numberOf(name: string, operand: Operand): Value {
  if (typeof operand !== "object") return operand;
  throw new CalculatorError(`${name}() takes numbers, not a list`);
}

function listOf(name: string, operand: Operand): readonly Value[] {
  if (typeof operand === "object") return operand;
  throw new CalculatorError(`'${typeName(operand)}' object is not iterable (write ${name}([1, 2, 3]))`);
}

function intOf(value: Value): bigint {
  if (isInt(value)) return value;
  throw new CalculatorError("'float' object cannot be interpreted as an integer");
}

const everywhere = () => true;
const finite = (x: number) => Number.isFinite(x);
const withinOne = (x: number) => Math.abs(x) <= 1;

const BUILT_IN = new Map<string, PythonFunction>([
  numbers("abs", 1, 1, ([x]) => {
    if (!isInt(x as Value)) return Math.abs(x as number);
    return (x as bigint) < 0n ? -(x as bigint) : (x as bigint);
  }),
  numbers("round", 1, 2, ([x, places]) =>
    places === undefined ? roundToInt(toWhole(x as Value)) : roundToPlaces(x as Value, placesOf(places)),
  ),
  extreme("min", (a, b) => a < b),
  extreme("max", (a, b) => a > b),
  numbers("pow", 2, 3, ([base, exponent, modulus], budget) => {
    if (modulus === undefined) return operate("**", base as Value, exponent as Value, budget);
    if (!isInt(base as Value) || !isInt(exponent as Value) || !isInt(modulus)) {
      throw new CalculatorError("pow() 3rd argument not allowed unless all arguments are integers");
    }
    return integers.powerModulo(base as bigint, exponent as bigint, modulus, budget);
  }),
  ofList("sum", (items, budget) => items.reduce((sum, item) => operate("+", sum, item, budget), 0n)),
  numbers("int", 0, 1, ([x]) => toInt(x ?? 0n)),
  numbers("float", 0, 1, ([x]) => toFloat(x ?? 0n)),
]);

const MATH = new Map<string, PythonFunction | number>([
  ["pi", Math.PI],
  ["e", Math.E],
  ["tau", 2 * Math.PI],
  ["inf", Infinity],
  ["nan", NaN],
  partial("sqrt", (x) => x >= 0, Math.sqrt),
  real("cbrt", Math.cbrt),
  partial("exp", everywhere, precise.exp),
  partial("expm1", everywhere, Math.expm1),
  numbers("log", 1, 2, ([x, base]) => {
    const logarithm = precise.log(positive(x as Value));
    if (base === undefined) return logarithm;
    return operateFloat(logarithm, precise.log(positive(base)));
  }),
  numbers("log2", 1, 1, ([x]) => precise.log2(positive(x as Value))),
  numbers("log10", 1, 1, ([x]) => platform.log10(positive(x as Value))),
  partial("log1p", (x) => x > -1, Math.log1p),
  numbers("pow", 2, 2, ([base, exponent]) => powerInMath(toFloat(base as Value), toFloat(exponent as Value))),
  partial("sin", finite, precise.sin),
  partial("cos", finite, precise.cos),
  partial("tan", finite, precise.tan),
  partial("asin", withinOne, precise.asin),
  partial("acos", withinOne, precise.acos),
  real("atan", precise.atan),
  numbers("atan2", 2, 2, ([y, x]) => precise.atan2(toFloat(y as Value), toFloat(x as Value))),
  partial("sinh", everywhere, platform.sinh),
  partial("cosh", everywhere, platform.cosh),
  real("tanh", Math.tanh),
  real("asinh", platform.asinh),
  partial("acosh", (x) => x >= 1, platform.acosh),
  partial("atanh", (x) => Math.abs(x) < 1, Math.atanh),
  real("degrees", (x) => x * (180 / Math.PI)),
  real("radians", (x) => x * (Math.PI / 180)),
  numbers("floor", 1, 1, ([x]) => (isInt(x as Value) ? (x as bigint) : toInt(Math.floor(x as number)))),
  numbers("ceil", 1, 1, ([x]) => (isInt(x as Value) ? (x as bigint) : toInt(Math.ceil(x as number)))),
  numbers("trunc", 1, 1, ([x]) => toInt(x as Value)),
  real("fabs", Math.abs),
  numbers("fmod", 2, 2, ([x, y]) => remainderInMath(toFloat(x as Value), toFloat(y as Value))),
  numbers("copysign", 2, 2, ([x, y]) => {
    const sign = toFloat(y as Value);
    const size = Math.abs(toFloat(x as Value));
    return sign < 0 || Object.is(sign, -0) ? -size : size;
  }),
  numbers("hypot", 0, Infinity, (args) => precise.hypot(args.map(toFloat))),
  ofList("prod", (items, budget) => items.reduce((product, item) => operate("*", product, item, budget), 1n)),
  ofList("fsum", (items) => exactSum(items.map(toFloat))),
  ints("factorial", 1, 1, ([n], budget) => integers.factorial(n as bigint, budget)),
  ints("comb", 2, 2, ([n, k], budget) => integers.combinations(n as bigint, k as bigint, budget)),
  ints("perm", 1, 2, ([n, k], budget) => integers.permutations(n as bigint, k ?? (n as bigint), budget)),
  ints("gcd", 0, Infinity, (args, budget) => integers.greatestCommonDivisor(args, budget)),
  ints("lcm", 0, Infinity, (args, budget) => integers.leastCommonMultiple(args, budget)),
  ints("isqrt", 1, 1, ([n]) => integers.squareRoot(n as bigint)),
]);

/** Every name that an expression may use. */
export const NAMES: ReadonlySet<string> = new Set([...BUILT_IN.keys(), ...MATH.keys()]);

function toWhole(x: Value): Value {
  // toInt refuses what is not finite, in Python's words.
  return isInt(x) || Number.isFinite(x) ? x : toInt(x);
}

function placesOf(places: Value): number {
  const limited = intOf(places);
  return limited > 1000n ? 1000 : limited < -100_000n ? -100_000 : Number(limited);
}

function positive(x: Value): Value {
  if (x <= 0) throw new CalculatorError("math domain error");
  return x;
}

function operateFloat(a: number, b: number): number {
  if (b === 0) throw new CalculatorError("float division by zero");
  return a / b;
}

function powerInMath(base: number, exponent: number): number {
  if (!Number.isFinite(base) || !Number.isFinite(exponent)) return powerOfFloats(base, exponent);
  if (base === 0 ? exponent < 0 : base < 0 && !Number.isInteger(exponent)) {
    throw new CalculatorError("math domain error");
  }
  if (base !== 0 && !Number.isFinite(precise.pow(Math.abs(base), exponent))) {
    throw new CalculatorError("math range error");
  }
  return powerOfFloats(base, exponent);
}

function exactSum(items: readonly number[]): number {
  if (items.includes(Infinity) && items.includes(-Infinity)) {
    throw new CalculatorError("-inf + inf in fsum");
  }
  const result = precise.sum(items);
  if (!Number.isFinite(result) && items.every(Number.isFinite)) {
    throw new CalculatorError("intermediate overflow in fsum");
  }
  return result;
}

function remainderInMath(x: number, y: number): number {
  const result = x % y;
  if (Number.isNaN(result) && !Number.isNaN(x) && !Number.isNaN(y))
    throw new CalculatorError("math domain error");
  return result;
}
