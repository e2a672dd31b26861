/** The calculator as a client meets it. */

import { type Client, connect } from "@patchbay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCalculator } from "../src/calculator/index.ts";

let client: Client;
beforeAll(async () => {
  client = await connect(createCalculator());
});
afterAll(() => client.close());

const text = (value: string) => [{ type: "text", text: value }];

describe("calculator", () => {
  it("is listed with its schemas and as harmless", async () => {
    expect(client.instructions).toContain("whole expressions at once");
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["calculator", "add"]);
    for (const { annotations, description, outputSchema, title } of tools) {
      expect(title).toBeTruthy();
      expect(annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true, openWorldHint: false });
      expect(description).toBeTruthy();
      expect(outputSchema).toMatchObject({ type: "object" });
    }
  });

  it.each([
    ["564*34+12.4/455**2", "19176.00005989615", 19176.00005989615],
    ["2**64", "18446744073709551616", null],
    ["2**53 - 1", "9007199254740991", 9007199254740991],
    ["10/2", "5.0", 5],
    ["1e400", "inf", null],
    ["nan", "nan", null],
  ])("%s", async (expression, result, value) => {
    expect(await client.callTool("calculator", { expression })).toMatchObject({
      content: text(result),
      structuredContent: { result, value },
    });
  });

  it.each([
    ["1/0", "division by zero at column 2"],
    ["(1+2))", "unexpected ')' at column 6"],
    ["9**9**9", "the exponent of an integer is larger than maxExponent allows (100,000) at column 2"],
  ])("says what is wrong with %s", async (expression, message) => {
    const { content, isError } = await client.callTool("calculator", { expression });
    expect(isError).toBe(true);
    expect(content).toEqual(text(message));
  });

  it("takes other limits", async () => {
    const small = await connect(createCalculator({ maxLength: 3 }));
    const { content } = await small.callTool("calculator", { expression: "1 + 1" });
    expect(content).toEqual(text("the expression has more characters than maxLength allows (3)"));
    await small.close();
  });
});

describe("add", () => {
  it("adds", async () => {
    expect(await client.callTool("add", { a: 2, b: 0.5 })).toMatchObject({
      content: text("2.5"),
      structuredContent: { result: 2.5 },
    });
  });

  it("refuses a sum that is no number", async () => {
    expect(await client.callTool("add", { a: 1.7e308, b: 1.7e308 })).toMatchObject({
      content: text("the sum is too large for a number"),
      isError: true,
    });
  });

  it("wants numbers", async () => {
    const { content, isError } = await client.callTool("add", { a: "1", b: 2 });
    expect(isError).toBe(true);
    expect(content).toEqual([{ type: "text", text: expect.stringContaining("a: ") }]);
  });
});
