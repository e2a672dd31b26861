/** The registry: each server that is named can be loaded, and answers to its name. */

import { connect } from "@patchbay/client";
import { expect, it } from "vitest";
import { builtinNames, builtins } from "../src/index.ts";

it.each([...builtins])("%s", async (name, { description, load }) => {
  const client = await connect(await load());
  expect(client.server?.name).toBe(name);
  expect(description).not.toContain("\n");
  expect((await client.listTools()).length).toBeGreaterThan(0);
  await client.close();
});

it("names them all", () => {
  expect(builtinNames).toEqual(["calculator", "weather", "everything"]);
});
