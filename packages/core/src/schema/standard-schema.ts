/** Schemas as users write them: Zod, Valibot, ArkType (Standard Schema), or plain JSON Schema. */

import { formatPath, type Issue, type JsonSchema, type Validate } from "./json-schema.ts";

/** The part of Standard Schema V1 that is used here (standardschema.dev). */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { target: "draft-2020-12" }) => Record<string, unknown>;
      readonly output: (options: { target: "draft-2020-12" }) => Record<string, unknown>;
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A schema as it may be given to Patchbay. */
export type Schema = StandardSchema<unknown, unknown> | JsonSchema;

/** The type that a handler gets for a schema; plain JSON Schema says nothing to TypeScript. */
export type Parsed<S> = S extends StandardSchema<unknown, infer Output> ? Output : Record<string, unknown>;

/** The type that must be given to fit a schema. */
export type Accepted<S> = S extends StandardSchema<infer Input, unknown> ? Input : unknown;

export type Checked = { value: unknown; issues?: undefined } | { issues: readonly Issue[] };

/** A schema made ready: its JSON for the wire, and its check; the compiler is loaded when a check first needs it. */
export interface PreparedSchema {
  json: JsonSchema;
  check(value: unknown): Checked | Promise<Checked>;
}

/**
 * Makes a schema ready for use.
 *
 * @param side `input` for what is accepted, `output` for what is produced (they differ by defaults and transforms)
 * @throws Error when a Standard Schema cannot tell its JSON Schema
 */
export function prepareSchema(schema: Schema, side: "input" | "output"): PreparedSchema {
  return isStandard(schema) ? prepareStandard(schema, side) : prepareJson(schema);
}

function isStandard(schema: Schema): schema is StandardSchema {
  return "~standard" in schema;
}

function prepareJson(json: JsonSchema): PreparedSchema {
  let validate: Validate | undefined;
  const judge = (validate: Validate, value: unknown): Checked => {
    const issues = validate(value);
    return issues === undefined ? { value } : { issues };
  };
  return {
    json,
    check(value) {
      if (validate !== undefined) return judge(validate, value);
      return import("./compile.ts").then(({ compileSchema }) => {
        validate = compileSchema(json);
        return judge(validate, value);
      });
    },
  };
}

function prepareStandard(schema: StandardSchema, side: "input" | "output"): PreparedSchema {
  const standard = schema["~standard"];
  const toJson = standard.jsonSchema?.[side];
  if (toJson === undefined) {
    throw new Error(
      `The ${standard.vendor} schema cannot tell its JSON Schema ("~standard".jsonSchema is missing): ` +
        "use Zod 4.2 or later, ArkType 2.1.28 or later, Valibot's toStandardJsonSchema, or plain JSON Schema",
    );
  }
  const { $schema: _, ...json } = toJson({ target: "draft-2020-12" }) as JsonSchema;
  return {
    json,
    check(value) {
      const result = standard.validate(value);
      return result instanceof Promise ? result.then(toChecked) : toChecked(result);
    },
  };
}

function toChecked(result: StandardResult<unknown>): Checked {
  if (result.issues === undefined) return { value: result.value };
  return {
    issues: result.issues.map(({ message, path = [] }) => ({ path: formatPath(path.map(keyOf)), message })),
  };
}

function keyOf(step: PropertyKey | { readonly key: PropertyKey }): PropertyKey {
  return typeof step === "object" ? step.key : step;
}
