/** What bounds a calculation, and the error that a calculation ends with. */

/** Bounds on one expression: each error that comes from one names it. */
export interface CalculatorLimits {
  /** Characters of an expression. Default 10,000. */
  maxLength: number;
  /** Parentheses, calls, signs and powers inside one another. Default 100. */
  maxDepth: number;
  /** Decimal digits of an int. Default 4,300, as Python's own. */
  maxDigits: number;
  /** The exponent of an int raised to an int. Default 100,000. */
  maxExponent: number;
  /** Steps of arithmetic; `factorial(n)` takes n of them. Default 20,000. */
  maxOperations: number;
}

export const DEFAULT_CALCULATOR_LIMITS: CalculatorLimits = {
  maxLength: 10_000,
  maxDepth: 100,
  maxDigits: 4300,
  maxExponent: 100_000,
  maxOperations: 20_000,
};

/** What is wrong with an expression, in words for its writer; `column` (from 1) says where. */
export class CalculatorError extends Error {
  readonly column: number | undefined;

  constructor(message: string, column?: number) {
    super(message);
    this.name = "CalculatorError";
    this.column = column;
  }
}

/** The error for a passed bound. */
export function limitExceeded(
  name: keyof CalculatorLimits,
  limits: CalculatorLimits,
  what: string,
  column?: number,
): CalculatorError {
  return new CalculatorError(`${what} than ${name} allows (${limits[name].toLocaleString("en-US")})`, column);
}

/** What one calculation may still spend. */
export class Budget {
  readonly limits: CalculatorLimits;
  readonly #largest: bigint;
  #operations = 0;

  constructor(limits: CalculatorLimits) {
    this.limits = limits;
    this.#largest = 10n ** BigInt(limits.maxDigits);
  }

  /** Takes some steps, before they are made. */
  spend(operations: number): void {
    this.#operations += operations;
    if (this.#operations > this.limits.maxOperations) {
      throw limitExceeded("maxOperations", this.limits, "the calculation takes more steps");
    }
  }

  /** Gives an int back when it has few enough digits. */
  checked(value: bigint): bigint {
    if (value < this.#largest && -value < this.#largest) return value;
    throw this.tooManyDigits();
  }

  tooManyDigits(): CalculatorError {
    return limitExceeded("maxDigits", this.limits, "an integer has more digits");
  }
}
