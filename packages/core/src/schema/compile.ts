/**
 * JSON Schema with bounds: checked before it is compiled, compiled once, and never fetched. It is an entry of its
 * own, `@patchbay/core/schema`, because of the compiler, which takes longer to load than all else of a server.
 */

import { Ajv, type ErrorObject as AjvError, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type LimitName, limitError } from "../errors.ts";
import { formatPath, type Issue, type JsonSchema, type Validate } from "./json-schema.ts";
import { type Dialect, invalidity } from "./validity.ts";

export interface SchemaLimits {
  /** Levels of schemas inside one another. Default 64. */
  maxSchemaDepth: number;
  /** Objects in one schema document. Default 10,000. */
  maxSubschemas: number;
  /** Characters of one `pattern`, or of a key of `patternProperties`. Default 512. */
  maxPatternLength: number;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = {
  maxSchemaDepth: 64,
  maxSubschemas: 10_000,
  maxPatternLength: 512,
};

type Engine = Ajv | Ajv2020;

const OPTIONS = {
  // "constructor" is not a property of every object.
  ownProperties: true,
  strict: false,
  allErrors: false,
  validateFormats: false,
  logger: false,
  addUsedSchema: false,
  // Whether a schema is valid is looked at before: to compile the metaschema takes ten times as long as all else.
  validateSchema: false,
  meta: false,
} as const;
const DIALECTS = new Map<string | undefined, Dialect>([
  [undefined, "2020-12"],
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema", "draft-07"],
]);

/** Schemas that one engine compiles: it keeps all of them for ever, so it is given up at some point. */
const MAX_COMPILED = 256;

/** The engine of a dialect, made when a schema first needs it: each costs some milliseconds to make. */
const renewed = (make: () => Engine): (() => Engine) => {
  let engine: Engine | undefined;
  let uses = 0;
  return () => {
    if (engine === undefined || ++uses % MAX_COMPILED === 0) engine = make();
    return engine;
  };
};
const ENGINES: Record<Dialect, () => Engine> = {
  "2020-12": renewed(() => new Ajv2020(OPTIONS)),
  "draft-07": renewed(() => new Ajv(OPTIONS)),
};
const compiled = new WeakMap<JsonSchema, Validate>();

/**
 * Makes a validator for a schema; the same schema object gives the same validator.
 * Dialects: 2020-12 (the default) and draft-07 (basic/index § JSON Schema Usage).
 *
 * @throws ProtocolError that names the limit when the schema passes a bound
 * @throws Error when the dialect is unknown, the schema is wrong, or a `$ref` points outside it
 */
export function compileSchema(schema: JsonSchema, limits: SchemaLimits = DEFAULT_SCHEMA_LIMITS): Validate {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  checkBounds(schema, limits);
  const check = compileAs(dialectOf(schema), schema);
  const validate: Validate = (value) => {
    try {
      return check(value) ? undefined : issuesOf(check);
    } catch (thrown) {
      if (thrown instanceof RangeError) return [{ path: "", message: `cannot be checked: ${ENDLESS}` }];
      throw thrown;
    }
  };
  compiled.set(schema, validate);
  return validate;
}

/**
 * Checks a schema without compiling it, which takes a tenth of the time: that it is within bounds and valid. Whether its
 * references lead somewhere shows only when it is compiled.
 *
 * @throws ProtocolError that names the limit when the schema passes a bound
 * @throws Error when the dialect is unknown, the schema is wrong, or a `$ref` points outside it
 */
export function checkSchema(schema: JsonSchema, limits: SchemaLimits = DEFAULT_SCHEMA_LIMITS): void {
  checkBounds(schema, limits);
  checkValidity(schema, dialectOf(schema));
}

const ENDLESS = "the schema's $ref lead round without end";
let compilations = 0;

/** Compiles a copy under a name of its own: schemas that share an `$id` do not meet, and `#` is found. */
function compileAs(dialect: Dialect, schema: JsonSchema): ValidateFunction {
  const { $schema: _, $id: __, ...rest } = schema;
  checkValidity(schema, dialect);
  try {
    return ENGINES[dialect]().compile({ ...rest, $id: `patchbay://schema/${compilations++}` });
  } catch (thrown) {
    throw thrown instanceof RangeError ? new Error(`JSON Schema cannot be compiled: ${ENDLESS}`) : thrown;
  }
}

function checkValidity({ $schema: _, $id: __, ...rest }: JsonSchema, dialect: Dialect): void {
  const wrong = invalidity(rest, dialect);
  if (wrong !== undefined) throw new Error(`JSON Schema (${dialect}) is not valid: ${wrong}`);
}

function dialectOf({ $schema }: JsonSchema): Dialect {
  const dialect = DIALECTS.get($schema?.replace(/#$/, ""));
  if (dialect !== undefined) return dialect;
  const known = "https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#";
  throw new Error(`JSON Schema dialect "${$schema}" is not supported; use ${known}`);
}

/** Refuses what would make compiling or validating run away: depth, size, patterns, references elsewhere. */
function checkBounds(root: JsonSchema, limits: SchemaLimits): void {
  let level: object[] = [root];
  let subschemas = 0;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.maxSchemaDepth) throw tooLarge("maxSchemaDepth", limits.maxSchemaDepth);
    subschemas += level.length;
    if (subschemas > limits.maxSubschemas) throw tooLarge("maxSubschemas", limits.maxSubschemas);
    const next: object[] = [];
    for (const node of level) {
      for (const [key, value] of Object.entries(node)) {
        if (
          (key === "$ref" || key === "$dynamicRef") &&
          typeof value === "string" &&
          !value.startsWith("#")
        ) {
          throw new Error(
            `JSON Schema ${key} "${value}" points outside the schema; references are not fetched`,
          );
        }
        const patterns = key === "patternProperties" ? Object.keys(value ?? {}) : [];
        if (key === "pattern" && typeof value === "string") patterns.push(value);
        if (patterns.some((pattern) => pattern.length > limits.maxPatternLength)) {
          throw tooLarge("maxPatternLength", limits.maxPatternLength);
        }
        if (typeof value === "object" && value !== null) next.push(value);
      }
    }
    level = next;
  }
}

function tooLarge(name: LimitName, limit: number): Error {
  return limitError(name, `the JSON Schema passes ${name} (${limit})`, limit);
}

function issuesOf(check: ValidateFunction): Issue[] {
  return (check.errors ?? []).map((error) => ({ path: pathOf(error), message: messageOf(error) }));
}

function pathOf(error: AjvError): string {
  const steps = error.instancePath.split("/").slice(1);
  const missing = (error.params as { missingProperty?: string }).missingProperty;
  if (error.keyword === "required" && missing !== undefined) steps.push(missing);
  return formatPath(steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")));
}

function messageOf(error: AjvError): string {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case "required":
      return "is required";
    case "additionalProperties":
      return `has no property "${params.additionalProperty}"`;
    case "enum":
      return `must be one of ${(params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(params.allowedValue)}`;
    default:
      return error.message ?? `does not fit "${error.keyword}"`;
  }
}
