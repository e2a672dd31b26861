/**
 * What a dialect of JSON Schema allows as a schema, keyword by keyword: its metaschema, in a form that needs no
 * compiling (json-schema.org, 2020-12 and draft-07).
 */

import { canonicalJson } from "../fingerprint.ts";
import { isObject } from "../json.ts";
import { formatPath, type JsonSchema } from "./json-schema.ts";

export type Dialect = "2020-12" | "draft-07";

/** What a keyword's value must be, and which schemas are inside it. */
interface Form {
  expected: string;
  fits(value: unknown): boolean;
  /** Their steps below the keyword, and they themselves. */
  schemas?(value: unknown): [steps: PropertyKey[], schema: unknown][];
}

const TYPES = new Set<unknown>(["array", "boolean", "integer", "null", "number", "object", "string"]);

const isSchema = (value: unknown): boolean => isObject(value) || typeof value === "boolean";
const isString = (value: unknown): value is string => typeof value === "string";
const isStrings = (value: unknown): boolean =>
  Array.isArray(value) && value.every(isString) && areUnique(value);
const areUnique = (values: unknown[]): boolean => new Set(values).size === values.length;
const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

const each = (value: unknown): [PropertyKey[], unknown][] =>
  Object.entries(value as object).map(([key, schema]) => [[key], schema]);

const text: Form = { expected: "a string", fits: isString };
const flag: Form = { expected: "true or false", fits: (value) => typeof value === "boolean" };
const list: Form = { expected: "a list", fits: Array.isArray };
const choices: Form = {
  expected: "a list of different values, at least one",
  fits: (value) => isList(value) && areUnique(value.map((each) => canonicalJson(each))),
};
const number: Form = { expected: "a number", fits: (value) => typeof value === "number" };
const positive: Form = {
  expected: "a number above 0",
  fits: (value) => typeof value === "number" && value > 0,
};
const count: Form = {
  expected: "a whole number from 0",
  fits: (value) => Number.isInteger(value) && (value as number) >= 0,
};
const names: Form = { expected: "a list of different strings", fits: isStrings };
const schema: Form = {
  expected: "a schema: an object, true or false",
  fits: isSchema,
  schemas: (value) => [[[], value]],
};
const schemas: Form = { expected: "a list of schemas, at least one", fits: isList, schemas: each };
const schemasByName: Form = { expected: "an object of schemas", fits: isObject, schemas: each };
const type: Form = {
  expected: `one of ${[...TYPES].join(", ")}, or a list of them`,
  fits: (value) =>
    TYPES.has(value) || (isList(value) && value.every((each) => TYPES.has(each)) && areUnique(value)),
};
const namesByName: Form = {
  expected: "an object of lists of different strings",
  fits: (value) => isObject(value) && Object.values(value).every(isStrings),
};
const dependencies: Form = {
  expected: "an object of schemas and of lists of different strings",
  fits: (value) => isObject(value) && Object.values(value).every((each) => isSchema(each) || isStrings(each)),
  schemas: (value) => each(value).filter(([, inner]) => !Array.isArray(inner)),
};
const oneOrMore: Form = {
  expected: "a schema, or a list of schemas, at least one",
  fits: (value) => isSchema(value) || isList(value),
  schemas: (value) => (Array.isArray(value) ? each(value) : [[[], value]]),
};
const identifier: Form = {
  expected: "a URI without a fragment",
  fits: (value) => isString(value) && /^[^#]*#?$/.test(value),
};
const anchor: Form = {
  expected: "a name: a letter, then letters, digits, . _ -",
  fits: (value) => isString(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
};
const vocabularies: Form = {
  expected: "an object of true and false",
  fits: (value) => isObject(value) && Object.values(value).every((each) => typeof each === "boolean"),
};

const inBoth: Record<string, Form> = {
  ...all(text, "$schema", "$ref", "$comment", "title", "description", "pattern", "format"),
  ...all(text, "contentMediaType", "contentEncoding"),
  ...all(flag, "readOnly", "uniqueItems"),
  ...all(list, "enum", "examples"),
  ...all(number, "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"),
  ...all(count, "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"),
  ...all(schema, "contains", "additionalProperties", "propertyNames", "if", "then", "else", "not"),
  ...all(schemas, "allOf", "anyOf", "oneOf"),
  ...all(schemasByName, "definitions", "properties", "patternProperties"),
  multipleOf: positive,
  required: names,
  dependencies,
  type,
};

const FORMS: Record<Dialect, ReadonlyMap<string, Form>> = {
  "2020-12": new Map(
    Object.entries({
      ...inBoth,
      ...all(identifier, "$id"),
      ...all(anchor, "$anchor", "$dynamicAnchor", "$recursiveAnchor"),
      ...all(text, "$dynamicRef", "$recursiveRef"),
      ...all(flag, "deprecated", "writeOnly"),
      ...all(count, "maxContains", "minContains"),
      ...all(schema, "items", "unevaluatedItems", "unevaluatedProperties", "contentSchema"),
      ...all(schemasByName, "$defs", "dependentSchemas"),
      prefixItems: schemas,
      dependentRequired: namesByName,
      $vocabulary: vocabularies,
    }),
  ),
  "draft-07": new Map(
    Object.entries({
      ...inBoth,
      ...all(text, "$id"),
      ...all(schema, "additionalItems"),
      items: oneOrMore,
      enum: choices,
    }),
  ),
};

function all(form: Form, ...keywords: string[]): Record<string, Form> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, form]));
}

/**
 * Looks for the first place that the dialect does not allow. Depth and size are to be checked before.
 *
 * @returns what is wrong, with its place; nothing for a valid schema
 */
export function invalidity(root: JsonSchema, dialect: Dialect): string | undefined {
  const forms = FORMS[dialect];
  return look(root, []);

  function look(node: unknown, path: PropertyKey[]): string | undefined {
    if (typeof node === "boolean") return undefined;
    if (!isObject(node)) return `${formatPath(path)} must be ${schema.expected}`;
    for (const [keyword, value] of Object.entries(node)) {
      const form = forms.get(keyword);
      if (form === undefined) continue;
      const here = [...path, keyword];
      if (!form.fits(value)) return `${formatPath(here)} must be ${form.expected}`;
      for (const [steps, inner] of form.schemas?.(value) ?? []) {
        const found = look(inner, [...here, ...steps]);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }
}
