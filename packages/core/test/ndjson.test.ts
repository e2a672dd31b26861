/** Lines come out whole, however their bytes were cut, and no line is kept past its limit. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LineReader } from "../src/framing/ndjson.ts";

/** Feeds pieces to a reader; gives the lines and how often one was too long. */
function read(pieces: Iterable<string>, maxLineLength?: number) {
  const lines: string[] = [];
  const tooLong: number[] = [];
  const reader = new LineReader(
    (line) => lines.push(line),
    (limit) => tooLong.push(limit),
    maxLineLength,
  );
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return { lines, tooLong };
}

/** Bytes cut at the given places, decoded as a stream is. */
function* decode(bytes: Uint8Array, cuts: readonly number[]): Generator<string> {
  const decoder = new TextDecoder();
  let start = 0;
  for (const end of [...cuts, bytes.length]) {
    yield decoder.decode(bytes.subarray(start, end), { stream: true });
    start = end;
  }
}

const MESSAGES = ['{"a":"é"}', '{"b":"🙂"}', '{"c":"line\u2028separator"}', '{"d":1}'];
const STREAM = new TextEncoder().encode(
  `${MESSAGES[0]}\n${MESSAGES[1]}\r\n\n\r\n${MESSAGES[2]}\n${MESSAGES[3]}`,
);

describe("cutting a stream into lines", () => {
  test.each(Array.from({ length: STREAM.length + 1 }, (_, at) => at))("cut at byte %i", (at) => {
    expect(read(decode(STREAM, [at]))).toEqual({ lines: MESSAGES, tooLong: [] });
  });

  test("byte by byte", () => {
    const everywhere = Array.from({ length: STREAM.length }, (_, at) => at);
    expect(read(decode(STREAM, everywhere)).lines).toEqual(MESSAGES);
  });

  test("any text, cut anywhere, is the same lines", () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom("a", "🙂", "\n", "\r", " ") }));
    fc.assert(
      fc.property(pieces, (pieces) => {
        const expected = pieces
          .join("")
          .split("\n")
          .map((line) => line.replace(/\r$/, ""))
          .filter((line) => line !== "");
        expect(read(pieces).lines).toEqual(expected);
      }),
    );
  });

  test("what has no newline yet waits for it", () => {
    const lines: string[] = [];
    const reader = new LineReader(
      (line) => lines.push(line),
      () => expect.unreachable(),
    );
    reader.push('{"half":');
    expect(lines).toEqual([]);
    reader.push("1}\n");
    expect(lines).toEqual(['{"half":1}']);
    reader.end();
    expect(lines).toHaveLength(1);
  });
});

describe("a line past the limit", () => {
  test.each([
    ["in one piece", ["0123456789\nnext\n"]],
    ["in many pieces", [..."0123456789\nnext\n"]],
    ["and far longer than it", ["01234567", "8".repeat(1_000), "9\nne", "xt\n"]],
  ])("%s: is told once, skipped, and the next is read", (_, pieces) => {
    expect(read(pieces, 8)).toEqual({ lines: ["next"], tooLong: [8] });
  });

  test("at the end of the stream is skipped", () => {
    expect(read(["ok\n", "123456789"], 8)).toEqual({ lines: ["ok"], tooLong: [8] });
  });

  test("exactly at the limit is a line", () => {
    expect(read(["12345678\n"], 8)).toEqual({ lines: ["12345678"], tooLong: [] });
    expect(read(["1234", "5678", "\n"], 8)).toEqual({ lines: ["12345678"], tooLong: [] });
  });

  test("each of several is told", () => {
    expect(read(["123456789\n123456789\nok\n"], 8)).toEqual({ lines: ["ok"], tooLong: [8, 8] });
  });
});
