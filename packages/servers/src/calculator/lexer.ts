/** An expression's text as tokens: numbers, names and symbols, each with its place. */

import { CalculatorError, type CalculatorLimits, limitExceeded } from "./limits.ts";
import type { Value } from "./values.ts";

/** `at` is the column, from 1; `text` is what the writer wrote. */
export type Token =
  | { kind: "number"; value: Value; text: string; at: number }
  | { kind: "name"; text: string; at: number }
  | { kind: "symbol"; text: string; at: number }
  | { kind: "end"; text: ""; at: number };

const SPACE = /[\s\u3000]+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SYMBOL = /\*\*|\/\/|[-+*/%(),.[\]]/y;
const DECIMAL = /(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+(?:_\d+)*)?/y;
const BASED = /0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y;
const NUMBER_START = /\.?\d/y;
const REST_OF_WORD = /[\w.]*/y;

/** What people and keyboards write for what Python writes otherwise; each one character for one. */
const SPELLINGS: Record<string, string> = {
  "×": "*",
  "∗": "*",
  "⋅": "*",
  "·": "*",
  "÷": "/",
  "−": "-",
  "–": "-",
};
const NAMED: Record<string, string> = { π: "pi", τ: "tau", "∞": "inf" };

/** What to write for a character that Python's arithmetic has not. */
const ADVICE: Record<string, string> = {
  "^": "for a power write **",
  "²": "for a square write **2",
  "³": "for a cube write **3",
  "√": "for a square root write sqrt(…)",
  "!": "for a factorial write factorial(n)",
  "=": "leave it out",
  "{": "use parentheses ( )",
  "}": "use parentheses ( )",
  $: "leave out the currency",
  "€": "leave out the currency",
  "£": "leave out the currency",
  "¥": "leave out the currency",
  "°": "for degrees write radians(…)",
};

/**
 * @throws CalculatorError at the first character that no token begins with, or when the text passes `maxLength`
 */
export function tokenize(written: string, limits: CalculatorLimits): Token[] {
  if (written.length > limits.maxLength) {
    throw limitExceeded("maxLength", limits, "the expression has more characters");
  }
  const text = written.replace(/[！-～]/g, toAscii).replace(/[×∗⋅·÷−–]/g, (sign) => SPELLINGS[sign] ?? sign);
  const tokens: Token[] = [];
  let index = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = index;
    return pattern.exec(text)?.[0];
  };
  while (index < text.length) {
    const at = index + 1;
    const space = match(SPACE);
    if (space !== undefined) {
      index += space.length;
      continue;
    }
    const token =
      match(NUMBER_START) === undefined ? wordOrSymbol(match, text, at) : number(match, at, limits);
    tokens.push(token);
    index += token.kind === "name" && NAMED[text.charAt(index)] !== undefined ? 1 : token.text.length;
  }
  tokens.push({ kind: "end", text: "", at: text.trimEnd().length + 1 });
  return tokens;
}

/** Full-width forms, which East Asian keyboards write, as their ASCII ones. */
function toAscii(wide: string): string {
  return String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
}

type Match = (pattern: RegExp) => string | undefined;

function wordOrSymbol(match: Match, text: string, at: number): Token {
  const name = match(NAME);
  if (name !== undefined) return { kind: "name", text: name, at };
  const symbol = match(SYMBOL);
  if (symbol !== undefined) return { kind: "symbol", text: symbol, at };
  const character = String.fromCodePoint(text.codePointAt(at - 1) as number);
  const named = NAMED[character];
  if (named !== undefined) return { kind: "name", text: named, at };
  const advice = ADVICE[character];
  throw new CalculatorError(
    advice === undefined ? `unexpected '${character}'` : `unexpected '${character}' (${advice})`,
    at,
  );
}

function number(match: Match, at: number, limits: CalculatorLimits): Token {
  const text = match(BASED) ?? match(DECIMAL) ?? "";
  const word = match(REST_OF_WORD) ?? "";
  // A word goes on where its number ends only if the number is badly written: 12ab, 1__2, 0b12, 1.2.3.
  if (word.length > text.length) throw badNumber(word, at);
  const digits = text.replaceAll("_", "");
  if (/^0[xob]/i.test(digits))
    return { kind: "number", value: bounded(BigInt(digits.toLowerCase()), limits, at), text, at };
  if (/[.eE]/.test(digits)) return { kind: "number", value: Number(digits), text, at };
  if (/^0+[1-9]/.test(digits)) throw new CalculatorError(`an integer cannot begin with 0: '${text}'`, at);
  if (digits.length > limits.maxDigits) throw tooLong(limits, at);
  return { kind: "number", value: BigInt(digits), text, at };
}

function bounded(value: bigint, limits: CalculatorLimits, at: number): bigint {
  if (value >= 10n ** BigInt(limits.maxDigits)) throw tooLong(limits, at);
  return value;
}

function tooLong(limits: CalculatorLimits, at: number): CalculatorError {
  return limitExceeded("maxDigits", limits, "an integer has more digits", at);
}

function badNumber(word: string, at: number): CalculatorError {
  const shown = word.length > 40 ? `${word.slice(0, 40)}…` : word;
  if (/^[\d_.]+(e[\d_]+)?j$/i.test(word)) {
    return new CalculatorError(`'${shown}' is a complex number, and those are not supported`, at);
  }
  const times = /^(\d+)([A-Za-z_]\w*)$/.exec(word);
  if (times !== null && !/^0[xob]/i.test(word)) {
    return new CalculatorError(`'${shown}' is not a number (to multiply, write ${times[1]}*${times[2]})`, at);
  }
  return new CalculatorError(`'${shown}' is not a number`, at);
}
