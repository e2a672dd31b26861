/** A mistyped name finds the one that was meant, and a foreign one finds none. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { nearest } from "../src/nearest.ts";

const TOOLS = ["calculator", "get_weather", "add", "search_files"];

test.each([
  ["calculater", "calculator"],
  ["calcualtor", "calculator"],
  ["Calculator", "calculator"],
  ["getweather", "get_weather"],
  ["ad", "add"],
  ["dad", "add"],
  ["search_file", "search_files"],
  ["weather", undefined],
  ["zzz", undefined],
  ["", undefined],
])("%j → %j", (name, found) => {
  expect(nearest(name, TOOLS)).toBe(found);
});

test("takes the nearest, and of equals the first", () => {
  expect(nearest("read_fil", ["read_files", "read_file"])).toBe("read_file");
  expect(nearest("bat", ["cat", "rat"])).toBe("cat");
});

test("finds nothing among none", () => {
  expect(nearest("add", [])).toBeUndefined();
});

test("a name finds itself", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40, unit: "grapheme-ascii" }), (name) => {
      expect(nearest(name, ["q".repeat(99), name])).toBe(name);
    }),
  );
});

test("a very long name is cut, not compared in full", () => {
  expect(nearest("x".repeat(10_000_000), ["x".repeat(130), "y"])).toBe("x".repeat(130));
});
