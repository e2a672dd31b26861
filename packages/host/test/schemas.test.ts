/** Any schema that a server may send: the lowered copy passes the strict checks, and loses no value that was valid. */

import type { JsonSchema } from "@patchbay/core";
import { compileSchema } from "@patchbay/core/schema";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { type Lowered, lowerSchema, restoreArguments, type ToolFormat } from "../src/tools/index.ts";
import {
  anthropicSchema,
  deepSeekSchema,
  geminiSchema,
  ollamaSchema,
  openAISchema,
} from "./provider-rules.ts";
import { described, schemaWithValues, written } from "./schema-values.ts";

const CHECKS: Record<ToolFormat, (schema: JsonSchema) => string | undefined> = {
  openai: openAISchema,
  "openai-responses": openAISchema,
  anthropic: anthropicSchema,
  gemini: (schema) => (Object.keys(schema.properties ?? {}).length === 0 ? undefined : geminiSchema(schema)),
  deepseek: deepSeekSchema,
  ollama: ollamaSchema,
};
/** Those that differ in schemas. */
const FORMATS = (Object.keys(CHECKS) as ToolFormat[]).filter((format) => format !== "openai-responses");
/** More of them find more, and take longer. */
const RUNS = Number(process.env.SCHEMA_RUNS ?? 25);

vi.setConfig({ testTimeout: 120_000 });

describe.each(FORMATS)("%s", (format) => {
  it("takes the lowered copy of any schema, and any value that fits the original", async () => {
    await fc.assert(
      fc.asyncProperty(schemaWithValues(), async ({ schema, values }) => {
        const lowered = (await lowerSchema(schema, format)) as Lowered;
        expect(CHECKS[format](lowered.schema), JSON.stringify(lowered.schema)).toBeUndefined();
        const original = compileSchema(described(schema));
        const check = compileSchema(asJsonSchema(lowered.schema) as JsonSchema);
        for (const value of values) {
          if (original(value) !== undefined) continue;
          const args = written(lowered.schema, value);
          expect(check(args), `${JSON.stringify({ value, args, lowered: lowered.schema })}`).toBeUndefined();
          expect(restoreArguments(lowered.schema, args)).toEqual(value);
        }
      }),
      { numRuns: RUNS },
    );
  });
});

/** Gemini's `nullable`, as JSON Schema says it. */
function asJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(asJsonSchema);
  if (typeof node !== "object" || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, asJsonSchema(inner)]));
  if (copy.nullable !== true) return copy;
  const { nullable: _, ...rest } = copy;
  return { anyOf: [rest, { type: "null" }] };
}
