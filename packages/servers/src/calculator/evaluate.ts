/** The stack machine that runs a parsed expression, within a budget. */

import { Budget, CalculatorError, type CalculatorLimits } from "./limits.ts";
import { negate, operate } from "./operators.ts";
import type { Step } from "./parser.ts";
import { type Operand, typeName, type Value } from "./values.ts";

/**
 * Runs a program to its one value.
 *
 * @throws CalculatorError with the column of the step that failed
 */
export function evaluate(steps: readonly Step[], limits: CalculatorLimits): Value {
  const budget = new Budget(limits);
  const stack: Operand[] = [];
  for (const step of steps) {
    if (step.do === "push") {
      stack.push(step.value);
      continue;
    }
    try {
      stack.push(run(step, stack, budget));
    } catch (error) {
      if (error instanceof CalculatorError) throw new CalculatorError(error.message, step.at);
      throw error;
    }
  }
  const result = stack.pop() as Operand;
  if (typeof result === "object") throw new CalculatorError("the result is a list, not a number");
  return result;
}

function run(step: Exclude<Step, { do: "push" }>, stack: Operand[], budget: Budget): Operand {
  switch (step.do) {
    case "sign": {
      const value = numberOf(stack.pop() as Operand, `unary ${step.sign}`);
      return step.sign === "-" ? negate(value) : value;
    }
    case "operate": {
      const right = numberOf(stack.pop() as Operand, step.operator);
      const left = numberOf(stack.pop() as Operand, step.operator);
      return operate(step.operator, left, right, budget);
    }
    case "list":
      return take(stack, step.count).map((item) => numberOf(item, "a list in a list"));
    case "call":
      budget.spend(1 + step.count);
      return step.function(take(stack, step.count), budget);
  }
}

function take(stack: Operand[], count: number): Operand[] {
  return stack.splice(stack.length - count, count);
}

function numberOf(operand: Operand, operator: string): Value {
  if (typeof operand !== "object") return operand;
  throw new CalculatorError(`bad operand type for ${operator}: '${typeName(operand)}'`);
}
