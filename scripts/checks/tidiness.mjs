/** Checks what a reader meets first: how long a file is, how it opens, and what things are called. */

import { codeOf, readModule } from "./sources.mjs";

const MAX_LINES = 500;
const MANY_LINES = 300;
/** Words that say nothing about what a thing is. */
const EMPTY_WORDS = ["util", "utils", "helper", "helpers", "manager", "misc"];
/** A divisor may be a common one; a file may not. */
const EMPTY_FILES = [...EMPTY_WORDS, "common", "shared"];

/** A file is one thing: past 500 lines it is two; past 300 it is worth a look. */
export function checkLength(sources) {
  const problems = [];
  const warnings = [];
  for (const [file, text] of codeOf(sources)) {
    const lines = text.split("\n").length - 1;
    if (lines > MAX_LINES) problems.push(`${file}:${MAX_LINES}: ${lines} lines; make it two files`);
    else if (lines > MANY_LINES) warnings.push(`${file}:${MANY_LINES}: ${lines} lines; is it one thing?`);
  }
  return { problems, warnings };
}

/** The first lines of a source file say in a sentence what it is. */
export function checkOpening(sources) {
  return codeOf(sources)
    .filter(([file]) =>
      /^(packages\/[^/]+\/src|scripts|bench|conformance|deploy|docs|examples|interop|soak)\//.test(file),
    )
    .filter(([, text]) => !opensWithSentence(text))
    .map(([file]) => `${file}:1: begin with a sentence that says what this file is: /** … */`);
}

function opensWithSentence(text) {
  const comment = /^(?:#!.*\n\s*)?\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? "";
  return /\w.*[.?](?:\s|$)/m.test(comment);
}

/** No file, folder or exported name holds an empty word. */
export function checkNames(sources) {
  const problems = [];
  for (const [file, text] of codeOf(sources)) {
    const named = emptyWord(file, EMPTY_FILES);
    if (named) problems.push(`${file}:1: "${named}" in the path says nothing; name what it is`);
    for (const { name, line } of readModule(file, text).exports) {
      const word = emptyWord(name, EMPTY_WORDS);
      if (word) problems.push(`${file}:${line}: "${word}" in ${name} says nothing; name what it is`);
    }
  }
  return problems;
}

function emptyWord(name, empty) {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").split(/[^A-Za-z\d]+/);
  return words.find((word) => empty.includes(word.toLowerCase()));
}
