/** What is shown can neither hide nor move anything. */

import { expect, it } from "vitest";
import { visible, visibleJson, visibleLine, visibleName, visibleNames } from "../src/visible.ts";

it("strips escape sequences, control, bidi, zero-width and tag characters", () => {
  expect(visible("a\u001B[31mred\u001B[0m \u001B]0;title\u0007b")).toBe("ared b");
  expect(visible("a\u0008\r\u009Bb\u007F")).not.toMatch(/[\u0000-\u0008\r\u007F-\u009F]/);
  expect(visible("x\u202Ey\u2066z\u200Bw\uFEFF\u{E0041}\u{E007F}!")).toBe("xyzw!");
});

it("keeps newlines, tabs and every script", () => {
  expect(visible("a\tb\nc: 北京 العربية ñ 👍🏽")).toBe("a\tb\nc: 北京 العربية ñ 👍🏽");
  expect(visibleLine(" a\n  b ")).toBe("a b");
});

it("spells them in JSON, so that the value stays exact", () => {
  const value = { text: "a\u202Eb\u009B31m\u{E0041}\u001B", list: ["\n"] };
  for (const indent of [undefined, 2]) {
    const json = visibleJson(value, indent);
    expect(json).toBe(indent === undefined ? visible(json) : json);
    expect(json).not.toMatch(/[\u001B\u009B\u202E]|[\u{E0000}-\u{E0FFF}]/u);
    expect(JSON.parse(json)).toEqual(value);
  }
});

it("shows a name on one line, and a list of names to a length", () => {
  expect(visibleName("nl\n✓ fake: ok\u001B[31m")).toBe("nl ✓ fake: ok");
  expect(visibleName("x".repeat(100_000))).toBe(`${"x".repeat(79)}…`);
  expect(visibleNames(["a", "b\nc"])).toBe("a, b c");
  expect(visibleNames(Array(60).fill("a"))).toMatch(/^(a, ){49}a and 10 more$/);
});
