/** A conversation with tools is in order, or it is said where it is not. */

import { expect, test } from "vitest";
import { type SamplingMessage, samplingFault } from "../src/model/sampling.ts";
import { mirroredValue } from "../src/schema/mirror.ts";

const text = (role: "user" | "assistant"): SamplingMessage => ({
  role,
  content: { type: "text", text: "hi" },
});
const uses = (...ids: string[]): SamplingMessage => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "tool_use", id, name: "t", input: {} })),
});
const results = (...ids: string[]): SamplingMessage => ({
  role: "user",
  content: ids.map((toolUseId) => ({ type: "tool_result", toolUseId, content: [] })),
});

test("a conversation in order", () => {
  expect(samplingFault([])).toBeUndefined();
  expect(samplingFault([text("user"), text("assistant")])).toBeUndefined();
  expect(samplingFault([text("user"), uses("a", "b"), results("b", "a"), text("assistant")])).toBeUndefined();
  expect(samplingFault([text("user"), uses("a")])).toBeUndefined();
});

test.each([
  ["a result is missing", [uses("a", "b"), results("a")], 'messages[1] lacks the result of the tool use "b"'],
  ["something comes between", [uses("a"), text("user"), results("a")], "messages[1] lacks the result"],
  ["a result of nothing", [text("user"), results("x")], 'messages[1] has a result for "x"'],
  [
    "results and text in one message",
    [uses("a"), { role: "user", content: [...(results("a").content as []), { type: "text", text: "and" }] }],
    "messages[1] mixes",
  ],
  ["the assistant's results", [uses("a"), { ...results("a"), role: "assistant" }], "not the user's"],
  ["the user's tools", [{ ...uses("a"), role: "user" }], "not the assistant's"],
] as [string, SamplingMessage[], string][])("%s", (_name, messages, what) => {
  expect(samplingFault(messages)).toContain(what);
});

test("an integer that JSON has rounded is not mirrored", () => {
  expect(mirroredValue({ a: { b: 2 ** 53 - 1 } }, ["a", "b"])).toBe(9007199254740991);
  expect(() => mirroredValue({ a: 2 ** 53 }, ["a"])).toThrow(/2\^53/);
});
