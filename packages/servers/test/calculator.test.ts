/** The arithmetic itself: Python's answers, what is refused, and what is bounded. */

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { calculate } from "../src/calculator/calculate.ts";
import { CalculatorError, type CalculatorLimits } from "../src/calculator/limits.ts";

type Row = [expression: string, repr: string] | [expression: string, repr: null, error: string];

function tableOf(file: string | URL): Row[] {
  return JSON.parse(readFileSync(file, "utf8"));
}

function errorOf(expression: string, limits: Partial<CalculatorLimits> = {}): CalculatorError {
  try {
    const { result } = calculate(expression, limits);
    throw new Error(`${expression.slice(0, 100)} gave ${result.slice(0, 100)}`);
  } catch (error) {
    if (error instanceof CalculatorError) return error;
    throw error;
  }
}

describe("Python's answers", () => {
  const rows = tableOf(new URL("python/table.json", import.meta.url));

  it("has hundreds of them", () => {
    expect(rows.length).toBeGreaterThan(400);
  });

  it.each(rows.map(([expression, ...rest]) => [expression, rest] as const))(
    "%s",
    (expression, [repr, error]) => {
      if (repr !== null) expect(calculate(expression).result).toBe(repr);
      // Advice may follow Python's words.
      else expect(errorOf(expression).message.startsWith(error as string)).toBe(true);
    },
  );

  const more = process.env.PYTHON_TABLE;
  it.skipIf(more === undefined)("agrees on random expressions, but for a last digit in ten thousand", () => {
    const wrong = tableOf(more as string).filter(([expression, repr]) => {
      if (repr === null) return errorOf(expression) === undefined;
      const { result } = calculate(expression);
      return result !== repr && !(Math.abs(Number(result) / Number(repr) - 1) < 1e-13);
    });
    expect(wrong).toEqual([]);
  });
});

describe("what people type", () => {
  it.each([
    ["7 × 3 ÷ 2", "10.5"],
    ["2 ⋅ 3 − 1", "5"],
    ["（１＋２）＊３", "9"],
    ["2 * π", "6.283185307179586"],
    ["\t1 +\n 1　", "2"],
    ["math.sqrt(16)", "4.0"],
    ["max(1, 2,)", "2"],
  ])("%s", (expression, result) => {
    expect(calculate(expression).result).toBe(result);
  });
});

describe("what is wrong is said with its place", () => {
  it.each([
    ["", "the expression is empty", 1],
    ["   ", "the expression is empty", 1],
    ["1+)", "unexpected ')'", 3],
    ["(1+2", "'(' was never closed", 1],
    ["2*[1, 2", "'[' was never closed", 3],
    ["(1+2]", "unexpected ']'", 5],
    ["1 +", "unexpected end of the expression", 4],
    ["1 + * 2", "unexpected '*'", 5],
    ["7^2", "unexpected '^' (for a power write **)", 2],
    ["5!", "unexpected '!' (for a factorial write factorial(n))", 2],
    ["1 + 1 =", "unexpected '=' (leave it out)", 7],
    ["2(3)", "unexpected '(' (to multiply, write *)", 2],
    ["2 pi", "unexpected 'pi' (to multiply, write *)", 3],
    ["2pi", "'2pi' is not a number (to multiply, write 2*pi)", 1],
    ["1,000", "unexpected ',' (write 1000000 or 1_000_000, not 1,000,000)", 2],
    ["1 + 012", "an integer cannot begin with 0: '012'", 5],
    ["1.2.3", "'1.2.3' is not a number", 1],
    ["0b12", "'0b12' is not a number", 1],
    ["1_", "'1_' is not a number (to multiply, write 1*_)", 1],
    ["3j", "'3j' is a complex number, and those are not supported", 1],
    [
      "(-8)**(1/3)",
      "a negative number raised to a fraction is a complex number, and those are not supported",
      5,
    ],
    ["sqroot(2)", "unknown name 'sqroot' (did you mean 'sqrt'?)", 1],
    ["1 + sqrt", "'sqrt' is a function: write sqrt(…)", 5],
    ["sqrt(1, 2)", "sqrt() takes exactly one argument (2 given)", 1],
    ["[1, 2] * 3", "bad operand type for *: 'list'", 8],
    ["[1, [2]]", "bad operand type for a list in a list: 'list'", 1],
    ["1 + 2/(3-3)", "division by zero", 6],
    ["2 🙂 2", "unexpected '🙂'", 3],
  ])("%s", (expression, message, column) => {
    expect(errorOf(expression)).toMatchObject({ message, column });
  });

  it.each(["constructor", "__proto__", "toString", "process", "math.constructor"])(
    "%s is no name",
    (name) => {
      expect(errorOf(name).message).toMatch(/^unknown name/);
      expect(errorOf(`${name}(1)`).message).toMatch(/^unknown name/);
    },
  );

  it("says that a list is no result", () => {
    expect(errorOf("[1, 2]").message).toBe("the result is a list, not a number");
  });
});

describe("limits", () => {
  const excessive: [expression: string, limit: string][] = [
    ["9**9**9", "maxExponent"],
    ["2**100000000", "maxExponent"],
    ["9**9**9**9**9", "maxExponent"],
    ["99999**99999", "maxDigits"],
    ["factorial(10**9)", "maxDigits"],
    ["comb(10**9, 10**8)", "maxDigits"],
    ["perm(10**100)", "maxDigits"],
    ["2**14000 * 2**14000", "maxDigits"],
    [`1${"0".repeat(4300)}`, "maxDigits"],
    [`0x${"f".repeat(4000)}`, "maxDigits"],
    ["(".repeat(1000), "maxDepth"],
    ["-".repeat(1000), "maxDepth"],
    ["2**".repeat(1000), "maxDepth"],
    ["sin(".repeat(1000), "maxDepth"],
    ["[".repeat(1000), "maxDepth"],
    ["pow(3, 10**4200, 10**4200) + pow(3, 10**4200, 10**4200)", "maxOperations"],
    [Array(100).fill("factorial(1000)").join("+"), "maxOperations"],
    ["1+".repeat(500_000), "maxLength"],
  ];
  it.each(excessive.map(([expression, limit]) => [expression.slice(0, 30), limit, expression]))(
    "%s is refused by %s",
    (_start, limit, expression) => {
      expect(errorOf(expression).message).toContain(limit);
    },
  );

  it("takes what is just within them", () => {
    expect(calculate(`${"(".repeat(99)}1${")".repeat(99)}`).result).toBe("1");
    expect(calculate("9".repeat(4300)).result).toHaveLength(4300);
    expect(calculate(`${"1+".repeat(4999)}1`).result).toBe("5000");
    expect(calculate("pow(3, 2**2047, 2**2048 - 1)").result).toMatch(/^\d+$/);
    expect(calculate("1**10**100 + (-1)**10**100 + 0**10**100").result).toBe("2");
  });

  it("can be set", () => {
    expect(errorOf("1+1+1", { maxLength: 4 }).message).toBe(
      "the expression has more characters than maxLength allows (4)",
    );
    expect(errorOf("((1))", { maxDepth: 2 }).message).toContain("maxDepth allows (2)");
    expect(errorOf("100", { maxDigits: 2 }).message).toContain("maxDigits allows (2)");
    expect(errorOf("2**9", { maxExponent: 8 }).message).toContain("maxExponent allows (8)");
    expect(errorOf("1+1+1", { maxOperations: 1 }).message).toContain("maxOperations allows (1)");
  });
});
