/** What each provider takes of JSON Schema in a tool's parameters. What passes these rules is not answered by a 400. */

import type { ToolFormat } from "../formats.ts";

export interface SchemaRules {
  /**
   * `all`: any keyword may stand below the root, and references stay. Otherwise the schema is written anew, of these
   * keywords alone, with references put in place.
   */
  keywords: "all" | ReadonlySet<string>;
  /** Whether `anyOf` may stand below the root; where not, alternatives become one schema that takes each of them. */
  anyOf: boolean;
  /** `type: ["string", "null"]`; where not, `nullable` and `anyOf` say it, and every schema has one type. */
  typeLists: boolean;
  /** Whether an object needs no properties, and a schema no type; where not, such a value is JSON, written in a text. */
  openValues: boolean;
  /** Values that an `enum` may hold. */
  enums: "all" | "strings";
  /** The formats it knows, by type; all, where it leaves unknown ones alone. */
  formats: "all" | Readonly<Record<string, readonly string[]>>;
  /** What the name of a property may be. */
  propertyName?: RegExp;
}

const VALIDATION = [
  "format",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "default",
  "title",
  "additionalProperties",
] as const;

const OPENAI: SchemaRules = {
  keywords: "all",
  anyOf: true,
  typeLists: true,
  openValues: true,
  enums: "all",
  formats: "all",
};

export const SCHEMA_RULES: Record<ToolFormat, SchemaRules> = {
  openai: OPENAI,
  "openai-responses": OPENAI,
  anthropic: { ...OPENAI, propertyName: /^[a-zA-Z0-9_.-]{1,64}$/ },
  gemini: {
    keywords: new Set([
      "format",
      "minLength",
      "maxLength",
      "pattern",
      "minimum",
      "maximum",
      "minItems",
      "maxItems",
    ]),
    anyOf: true,
    typeLists: false,
    openValues: false,
    enums: "strings",
    formats: { string: ["date-time"], number: ["float", "double"], integer: ["int32", "int64"] },
    propertyName: /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/,
  },
  deepseek: {
    keywords: new Set(VALIDATION),
    anyOf: false,
    typeLists: true,
    openValues: true,
    enums: "all",
    formats: "all",
  },
  // It reads tools into a structure of its own: what that lacks the model would never see.
  ollama: {
    keywords: new Set(),
    anyOf: true,
    typeLists: true,
    openValues: true,
    enums: "all",
    formats: {},
  },
};

/** The same rules for a schema that has to be written anew all the same, for its root allows no alternatives. */
export function rewriting(rules: SchemaRules): SchemaRules & { keywords: ReadonlySet<string> } {
  return { ...rules, keywords: rules.keywords === "all" ? new Set(VALIDATION) : rules.keywords };
}
