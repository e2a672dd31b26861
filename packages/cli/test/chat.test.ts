/** The words of a conversation's lines, and what they are for a prompt. */

import { expect, it } from "vitest";
import { readPromptArguments } from "../src/chat/prompts.ts";
import { splitWords } from "../src/chat/words.ts";

it.each([
  ["", []],
  ["a  b", ["a", "b"]],
  [`text="Good morning" style=formal`, ["text=Good morning", "style=formal"]],
  [`a='it "is"' "b \\"c\\""`, [`a=it "is"`, `b "c"`]],
  [`a="not closed`, ["a=not closed"]],
  [`""`, [""]],
])("%j is %j", (line, words) => expect(splitWords(line)).toEqual(words));

const TAKES = [{ name: "text", required: true }, { name: "style" }];

it("arguments go by name, and others in their order, all that is left for the last", () => {
  expect(readPromptArguments("style=plain Good morning", TAKES)).toEqual({
    style: "plain",
    text: "Good morning",
  });
  expect(readPromptArguments("Hello very formal", TAKES)).toEqual({ text: "Hello", style: "very formal" });
  expect(readPromptArguments("x=1", TAKES)).toEqual({ text: "x=1" });
  expect(readPromptArguments("", TAKES)).toEqual({});
});

it("a word too many is told, with what there is", () => {
  expect(() => readPromptArguments("text=a style=b stile=c", TAKES)).toThrow(
    /stile=c.*It takes text, style.*"style"/,
  );
  expect(() => readPromptArguments("a", [])).toThrow(/It takes no arguments/);
});
