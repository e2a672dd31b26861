/** The calculator server: Python's arithmetic, for models that would else guess at digits. */

import { McpServer } from "@patchbay/server";
import { z } from "zod";
import { calculate } from "./calculate.ts";
import { CalculatorError, type CalculatorLimits } from "./limits.ts";
import { isInt } from "./values.ts";

export { type Calculation, calculate } from "./calculate.ts";
export { CalculatorError, type CalculatorLimits, DEFAULT_CALCULATOR_LIMITS } from "./limits.ts";

const DESCRIPTION = `Evaluates an arithmetic expression exactly as Python 3 does.
Operators: + - * / // % ** and parentheses. Numbers: 42, 1_000_000, 2.5e-3, 0xff.
Functions: abs round min max pow sum int float, and all of the math module's usual ones: sqrt cbrt exp log log2 log10 \
sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians floor ceil trunc factorial comb perm gcd lcm hypot prod.
Constants: pi e tau inf nan. Lists only as arguments: sum([1, 2, 3]). Integers are exact at any size.`;

const INSTRUCTIONS = `Work out any arithmetic with calculator instead of in your head, whole expressions at once.
It has no variables and no units: put the numbers in. An error says at which column it is.`;

const PURE = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/**
 * Makes the server.
 *
 * @param limits bounds on one expression; those left out have their defaults
 */
export function createCalculator(limits: Partial<CalculatorLimits> = {}): McpServer {
  const server = new McpServer(
    {
      name: "calculator",
      version: "0.1.0",
      title: "Calculator",
      description: "Arithmetic as Python 3 does it",
    },
    { instructions: INSTRUCTIONS },
  );

  server.tool(
    "calculator",
    {
      title: "Calculator",
      description: DESCRIPTION,
      input: z.object({
        expression: z.string().describe("What to work out, such as 564*34+12.4/455**2"),
      }),
      output: z.object({
        result: z.string().describe("The result as Python writes it: 4, 4.0, 1e+16, inf; integers whole"),
        value: z
          .number()
          .nullable()
          .describe("The result as a number; null where a JSON number cannot hold it exactly"),
      }),
      annotations: PURE,
    },
    ({ expression }) => {
      const { result, value } = explained(() => calculate(expression, limits));
      return {
        content: [{ type: "text", text: result }],
        structuredContent: { result, value: toJsonNumber(value) },
      };
    },
  );

  server.tool(
    "add",
    {
      title: "Add",
      description: "Adds two numbers.",
      input: z.object({ a: z.number(), b: z.number() }),
      output: z.object({ result: z.number() }),
      annotations: PURE,
    },
    ({ a, b }) => {
      const result = a + b;
      if (!Number.isFinite(result)) throw new CalculatorError("the sum is too large for a number");
      return { content: [{ type: "text", text: String(result) }], structuredContent: { result } };
    },
  );

  return server;
}

/** Runs a calculation; its error then says in its text where it was. */
function explained<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof CalculatorError && error.column !== undefined) {
      throw new CalculatorError(`${error.message} at column ${error.column}`, error.column);
    }
    throw error;
  }
}

function toJsonNumber(value: bigint | number): number | null {
  const number = Number(value);
  return (isInt(value) ? Number.isSafeInteger(number) : Number.isFinite(number)) ? number : null;
}
