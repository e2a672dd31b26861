/** Tokens as a program for a stack machine: operator precedence as Python has it, one pass, no tree. */

import { nearest } from "@patchbay/core";
import { lookUp, NAMES, type PythonFunction } from "./functions.ts";
import { type Token, tokenize } from "./lexer.ts";
import { CalculatorError, type CalculatorLimits, limitExceeded } from "./limits.ts";
import type { BinaryOperator } from "./operators.ts";
import type { Value } from "./values.ts";

/** One step: what it takes is on the stack, and there it leaves what it made. */
export type Step =
  | { do: "push"; value: Value }
  | { do: "sign"; sign: "+" | "-"; at: number }
  | { do: "operate"; operator: BinaryOperator; at: number }
  | { do: "list"; count: number; at: number }
  | { do: "call"; function: PythonFunction; count: number; at: number };

/** How tightly an operator holds what is on its left. */
const PRECEDENCE = new Map<string, number>([
  ["+", 1],
  ["-", 1],
  ["*", 2],
  ["/", 2],
  ["//", 2],
  ["%", 2],
  ["**", 4],
]);
/** A sign holds less than `**` on its right and more than the rest: -2**2 is -(2**2), 2**-1 is 2**(-1). */
const SIGN = 3;

/**
 * Reads one expression.
 *
 * @throws CalculatorError that says what was not expected, and at which column
 */
export function parse(text: string, limits: CalculatorLimits): Step[] {
  const tokens = tokenize(text, limits);
  const steps: Step[] = [];
  let index = 0;
  let depth = 0;

  const peek = () => tokens[index] as Token;
  const next = () => tokens[index++] as Token;
  const isSymbol = (token: Token, symbol: string) => token.kind === "symbol" && token.text === symbol;

  function expression(least: number): void {
    if (++depth > limits.maxDepth) {
      throw limitExceeded("maxDepth", limits, "the expression is nested deeper", peek().at);
    }
    operand();
    for (;;) {
      const token = peek();
      const precedence = token.kind === "symbol" ? PRECEDENCE.get(token.text) : undefined;
      if (precedence === undefined || precedence < least) break;
      next();
      // `**` groups to the right, and a sign may follow it; the others group to the left.
      expression(token.text === "**" ? SIGN : precedence + 1);
      steps.push({ do: "operate", operator: token.text as BinaryOperator, at: token.at });
    }
    depth--;
  }

  function operand(): void {
    const token = next();
    if (token.kind === "number") {
      steps.push({ do: "push", value: token.value });
    } else if (token.kind === "name") {
      name(token);
    } else if (isSymbol(token, "+") || isSymbol(token, "-")) {
      expression(SIGN);
      steps.push({ do: "sign", sign: token.text as "+" | "-", at: token.at });
    } else if (isSymbol(token, "(")) {
      expression(0);
      close(token, ")");
    } else if (isSymbol(token, "[")) {
      const count = items("]", token);
      steps.push({ do: "list", count, at: token.at });
    } else {
      throw unexpected(token);
    }
  }

  function name(first: Token): void {
    let qualified = false;
    let token = first;
    if (first.text === "math" && isSymbol(peek(), ".")) {
      next();
      token = next();
      qualified = true;
      if (token.kind !== "name") throw unexpected(token);
    }
    const found = lookUp(token.text, qualified);
    if (found === undefined) throw unknownName(token);
    if (typeof found !== "function") {
      steps.push({ do: "push", value: found });
      return;
    }
    const open = next();
    if (!isSymbol(open, "(")) {
      throw new CalculatorError(`'${token.text}' is a function: write ${token.text}(…)`, token.at);
    }
    const count = items(")", open);
    steps.push({ do: "call", function: found, count, at: first.at });
  }

  /** Expressions with commas between them, up to the closing symbol; a last comma may stand before it. */
  function items(end: ")" | "]", open: Token): number {
    let count = 0;
    while (!isSymbol(peek(), end)) {
      expression(0);
      count++;
      if (!isSymbol(peek(), ",")) break;
      next();
    }
    close(open, end);
    return count;
  }

  function close(open: Token, symbol: ")" | "]"): void {
    const token = next();
    if (isSymbol(token, symbol)) return;
    if (token.kind === "end") throw new CalculatorError(`'${open.text}' was never closed`, open.at);
    throw unexpected(token);
  }

  function unexpected(token: Token): CalculatorError {
    if (token.kind === "end") {
      return new CalculatorError(
        tokens.length === 1 ? "the expression is empty" : "unexpected end of the expression",
        token.at,
      );
    }
    return new CalculatorError(`unexpected '${shorten(token.text)}'${adviceFor(token)}`, token.at);
  }

  /** What was likely meant where two operands meet, or a comma stands. */
  function adviceFor(token: Token): string {
    const before = tokens[tokens.indexOf(token) - 1];
    const afterOperand =
      before !== undefined &&
      (before.kind === "number" || before.kind === "name" || before.text === ")" || before.text === "]");
    if (!afterOperand) return "";
    if (token.text === ",") return " (write 1000000 or 1_000_000, not 1,000,000)";
    if (token.text === "(" || token.kind === "name" || token.kind === "number")
      return " (to multiply, write *)";
    return "";
  }

  expression(0);
  const last = peek();
  if (last.kind !== "end") throw unexpected(last);
  return steps;
}

function unknownName(token: Token): CalculatorError {
  const meant = nearest(token.text, NAMES);
  const advice = meant === undefined ? `known are ${[...NAMES].join(", ")}` : `did you mean '${meant}'?`;
  return new CalculatorError(`unknown name '${shorten(token.text)}' (${advice})`, token.at);
}

function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
