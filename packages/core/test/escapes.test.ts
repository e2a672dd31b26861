import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { withoutEscapes } from "../src/escapes.ts";

describe("escape sequences", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["\u009b1;31mred\u009bm", "red"],
    ["a\u001b[2J\u001b[H\u001b[?25lb", "ab"],
    ["\u001b]8;;https://a.example\u0007link\u001b]8;;\u0007", "link"],
    ["\u001b]0;title\u001b\\text", "text"],
    ["\u001b(Bplain\u001bMup\u001b7", "plainup"],
    ["a\nb\tc", "a\nb\tc"],
    ["[31m is no sequence", "[31m is no sequence"],
  ])("%j is %j", (text, plain) => {
    expect(withoutEscapes(text)).toBe(plain);
    expect(stripVTControlCharacters(text)).toBe(plain);
  });

  it("may hide more than colours", () => {
    expect(withoutEscapes("\u001bPq#0;2;0;0;0\u001b\\picture\u009d52;c;x\u009cclipboard")).toBe(
      "pictureclipboard",
    );
    // One that does not end hides nothing.
    expect(withoutEscapes("\u001b]0;never ends")).toBe("\u001b]0;never ends");
  });

  it.each([";#", "[", "a;", "1;", "\u001b]", "\u001b[1", "\u009d", "\u009b", "\u001b "])(
    "take no time, however many there are of %j",
    (unit) => {
      const text = `\u001b${unit.repeat(500_000)}`;
      expect(withoutEscapes(text).length).toBeLessThanOrEqual(text.length);
    },
  );
});
