/** Inputs of a configuration, asked for on a terminal. */

import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { askInput } from "../src/config/inputs.ts";

function terminal(typed: string) {
  const input = new PassThrough();
  const output = new PassThrough();
  input.write(typed);
  return { input, output, shown: () => String(output.read() ?? "") };
}
const { signal } = new AbortController();

it("takes a text; Enter takes the default, and without one asks again", async () => {
  expect(await askInput({ id: "a", type: "promptString" }, signal, terminal("\n x \n"))).toBe(" x ");
  expect(await askInput({ id: "a", type: "promptString", default: "d" }, signal, terminal("\n"))).toBe("d");
});

it("takes one of several, by its number or its name", async () => {
  const pick = { id: "a", type: "pickString" as const, options: ["eu", "us"] };
  expect(await askInput(pick, signal, terminal("3\n2\n"))).toBe("us");
  expect(await askInput(pick, signal, terminal("asia\neu\n"))).toBe("eu");
});

it("does not show a secret", async () => {
  const { shown, ...at } = terminal("canary\n");
  expect(await askInput({ id: "key", type: "promptString", password: true }, signal, at)).toBe("canary");
  const text = shown();
  expect(text).toContain("key: ");
  expect(text).not.toContain("canary");
});

it("does not show a secret on a terminal, where something was asked before", async () => {
  const { shown, ...at } = terminal("");
  Object.assign(at.input, { isTTY: true, setRawMode: () => {} });
  const first = askInput({ id: "a", type: "promptString" }, signal, at);
  at.input.write("x\r");
  expect(await first).toBe("x");
  const second = askInput({ id: "key", type: "promptString", password: true }, signal, at);
  at.input.write("canary\r");
  expect(await second).toBe("canary");
  expect(shown()).not.toContain("canary");
});

it("ends with its signal, and with its input", async () => {
  const stop = new AbortController();
  const asking = askInput({ id: "a", type: "promptString" }, stop.signal, terminal(""));
  stop.abort(new Error("stopped"));
  await expect(asking).rejects.toThrow("stopped");
  const { shown: _, ...at } = terminal("");
  const closed = askInput({ id: "a", type: "promptString" }, signal, at);
  at.input.end();
  await expect(closed).rejects.toThrow('"a" was not answered.');
});
