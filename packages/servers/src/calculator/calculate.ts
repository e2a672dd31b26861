/** An expression in, its value out: what the calculator is without MCP. */

import { evaluate } from "./evaluate.ts";
import { type CalculatorLimits, DEFAULT_CALCULATOR_LIMITS } from "./limits.ts";
import { parse } from "./parser.ts";
import { repr, type Value } from "./values.ts";

export interface Calculation {
  /** A bigint for an int, a number for a float. */
  value: Value;
  /** The value as Python's `repr` writes it. */
  result: string;
}

/**
 * Works out an expression as Python 3 does.
 *
 * @throws CalculatorError that says what is wrong, and at which column
 */
export function calculate(expression: string, limits: Partial<CalculatorLimits> = {}): Calculation {
  const bounds = { ...DEFAULT_CALCULATOR_LIMITS, ...limits };
  const value = evaluate(parse(expression, bounds), bounds);
  return { value, result: repr(value) };
}
