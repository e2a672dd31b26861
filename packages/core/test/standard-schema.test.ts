/** Schemas as users write them: Zod's, another library's, and plain JSON Schema, made ready in one way. */

import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  type Accepted,
  type Checked,
  type Parsed,
  prepareSchema,
  type Schema,
  type StandardSchema,
} from "../src/schema/standard-schema.ts";

/** A library's schema, without what Patchbay needs besides. */
function standard(validate: StandardSchema["~standard"]["validate"], more = {}): StandardSchema {
  return { "~standard": { version: 1, vendor: "example", validate, ...more } };
}

const jsonSchema = { input: () => ({ type: "string" }), output: () => ({ type: "number" }) };

describe("Zod", () => {
  const search = z.object({
    words: z.string().min(1).describe("What to look for"),
    limit: z.number().int().max(50).default(10),
    tags: z.array(z.object({ name: z.string() })).optional(),
  });

  test("what is accepted, as JSON Schema: a default need not be given", () => {
    const { json } = prepareSchema(search, "input");
    expect(json).toMatchObject({
      type: "object",
      properties: { words: { type: "string", minLength: 1, description: "What to look for" } },
      required: ["words"],
    });
    expect(json).not.toHaveProperty("$schema");
  });

  test("what is produced, as JSON Schema: a default is always there", () => {
    expect(prepareSchema(search, "output").json.required).toEqual(["words", "limit"]);
  });

  test("fills in defaults", () => {
    expect(prepareSchema(search, "input").check({ words: "a" })).toEqual({
      value: { words: "a", limit: 10 },
    });
  });

  test("says where and why a value does not fit", () => {
    const { check } = prepareSchema(search, "input");
    const { issues } = check({ words: 1, tags: [{ name: "a" }, { name: 2 }] }) as Checked;
    expect(issues?.map(({ path }) => path)).toEqual(["words", "tags[1].name"]);
    expect(issues?.[0]?.message).toContain("expected string");
  });

  test("transforms", () => {
    const trimmed = z.object({ a: z.string().transform((text) => text.length) });
    expect(prepareSchema(trimmed, "input").json).toMatchObject({ properties: { a: { type: "string" } } });
    expect(prepareSchema(trimmed, "input").check({ a: "four" })).toEqual({ value: { a: 4 } });
  });

  test("may take its time", async () => {
    const even = z.object({ a: z.number().refine(async (number) => number % 2 === 0, "must be even") });
    const { check } = prepareSchema(even, "input");
    expect(await check({ a: 2 })).toEqual({ value: { a: 2 } });
    expect(await check({ a: 1 })).toEqual({ issues: [{ path: "a", message: "must be even" }] });
  });

  test("types what a handler gets and what must be given", () => {
    expectTypeOf<Parsed<typeof search>["limit"]>().toEqualTypeOf<number>();
    expectTypeOf<Accepted<typeof search>["limit"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Parsed<{ type: "object" }>>().toEqualTypeOf<Record<string, unknown>>();
  });
});

describe("any Standard Schema", () => {
  test("tells its JSON Schema for each side, in 2020-12", () => {
    const targets: unknown[] = [];
    const note = (options: unknown) => {
      targets.push(options);
      return { $schema: "https://json-schema.org/draft/2020-12/schema", type: "string" };
    };
    const schema = standard((value) => ({ value }), { jsonSchema: { input: note, output: note } });
    expect(prepareSchema(schema, "input").json).toEqual({ type: "string" });
    expect(targets).toEqual([{ target: "draft-2020-12" }]);
    const sides = standard((value) => ({ value }), { jsonSchema });
    expect(prepareSchema(sides, "input").json).toEqual({ type: "string" });
    expect(prepareSchema(sides, "output").json).toEqual({ type: "number" });
  });

  test("is refused when it cannot, with what to do", () => {
    const schema = standard((value) => ({ value }));
    expect(() => prepareSchema(schema, "input")).toThrow(/example schema cannot tell.*use Zod 4\.2/s);
  });

  test("may be a function, as ArkType's are", () => {
    const schema: Schema = Object.assign(
      () => undefined,
      standard((value) => ({ value }), { jsonSchema }),
    );
    expect(prepareSchema(schema, "input").json).toEqual({ type: "string" });
  });

  test("steps of a path are keys, or hold one", () => {
    const path = ["items", { key: 2 }, { key: "name" }];
    const schema = standard(() => ({ issues: [{ message: "no", path }, { message: "nowhere" }] }), {
      jsonSchema,
    });
    expect(prepareSchema(schema, "input").check(1)).toEqual({
      issues: [
        { path: "items[2].name", message: "no" },
        { path: "", message: "nowhere" },
      ],
    });
  });
});

describe("plain JSON Schema", () => {
  test("is its own JSON, and gives the value back as it is", async () => {
    const schema = { type: "object", properties: { a: { type: "integer", default: 1 } } };
    const { json, check } = prepareSchema(schema, "input");
    expect(json).toBe(schema);
    const value = {};
    expect(((await check(value)) as { value: unknown }).value).toBe(value);
    expect(check({ a: "x" })).toEqual({ issues: [{ path: "a", message: "must be integer" }] });
  });

  test("is compiled when it is first used", async () => {
    const wrong = { type: "no such type" };
    const { check } = prepareSchema(wrong, "input");
    await expect(check(1)).rejects.toThrow(Error);
  });
});
