/** JSON with comments: read, and written without losing them. */

import { describe, expect, it } from "vitest";
import { parseJson, withMembers } from "../src/config/jsonc.ts";

describe("parseJson", () => {
  it.each([
    [
      '{"a": "// no comment", "b": "/* none */", "c": "x\\"//"}',
      { a: "// no comment", b: "/* none */", c: 'x"//' },
    ],
    ['// first\n{"a": 1, // one\n /* two */ "b": [1, 2, /* last */],\n}', { a: 1, b: [1, 2] }],
    ['{"a": ",}"}', { a: ",}" }],
    ["[1, // ]\n 2]", [1, 2]],
    ["[1, /* ] */ 2]", [1, 2]],
  ])("reads %j", (text, expected) => {
    expect(parseJson(text)).toEqual(expected);
  });

  it.each([
    ['{\n  "a": x\n}', { line: 2, column: 8 }],
    ['{"a": [1,,2]}', { line: 1, column: 10 }],
    ['{\n "a": 1', { line: 2, column: 8 }],
    ['{"a": {"b": 1]', { line: 1, column: 14 }],
    ['{"a" 1}', { line: 1, column: 6 }],
    ["{} {}", { line: 1, column: 4 }],
    ['{"a": "\n"}', { line: 1, column: 7 }],
    ["", { line: 1, column: 1 }],
  ])("says where %j is wrong", (text, place) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ place }));
  });

  it("does not quote the text", () => {
    expect(() => parseJson('{"key": canary}')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("canary") }),
    );
  });
});

describe("withMembers", () => {
  const added = { b: { command: "x", args: ["{"] } };
  it.each([
    [
      "{}",
      '{\n  "s": {\n    "b": {\n      "command": "x",\n      "args": [\n        "{"\n      ]\n    }\n  }\n}',
    ],
    [
      '{\n  "s": {}\n}\n',
      '{\n  "s": {\n    "b": {\n      "command": "x",\n      "args": [\n        "{"\n      ]\n    }\n  }\n}\n',
    ],
    [
      '{\n\t"s": {\n\t\t"a": {} // keep me\n\t}\n}\n',
      '{\n\t"s": {\n\t\t"a": {}, // keep me\n\t\t"b": {\n\t\t  "command": "x",\n\t\t  "args": [\n\t\t    "{"\n\t\t  ]\n\t\t}\n\t}\n}\n',
    ],
    [
      '// top\n{\n  "s": {\n    "a": 1, /* one */\n  },\n  "t": [1,],\n}\n',
      '// top\n{\n  "s": {\n    "a": 1, /* one */\n    "b": {\n      "command": "x",\n      "args": [\n        "{"\n      ]\n    }\n  },\n  "t": [1,],\n}\n',
    ],
    [
      '{"s": {"b": {"command": "old"}, "c": null}}',
      '{"s": {"b": {\n  "command": "x",\n  "args": [\n    "{"\n  ]\n}, "c": null}}',
    ],
  ])("puts a member into %j", (text, expected) => {
    expect(withMembers(text, "s", added)).toBe(expected);
    expect(parseJson(withMembers(text, "s", added))).toMatchObject({ s: added });
  });
});
