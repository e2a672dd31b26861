/** What has to hold for any message: however it is cut, framed, or put into a header, it comes out as it went in. */

import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeHeaderValue, encodeHeaderValue } from "../src/framing/header-value.ts";
import { LineReader } from "../src/framing/ndjson.ts";
import { SSE_KEEP_ALIVE, sseEvent, sseEventWithId, ssePrimer, sseRetry } from "../src/framing/sse.ts";
import type { JsonObject, JsonValue } from "../src/json.ts";
import {
  type Message,
  parseMessage,
  parseMessages,
  writeError,
  writeNotification,
  writeRequest,
  writeResult,
} from "../src/jsonrpc.ts";
import { LEGACY_REVISIONS, REVISIONS } from "../src/revisions.ts";
import { wireOf } from "../src/wire/wire.ts";

const seed = 20260728;

/** Text with what framings trip over: line ends of all kinds, several bytes a character, halves of a pair. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom("\n", "\r", "\r\n", "\u2028", "\u0085", "\0", "\ufeff", ":", " ", "\\", '"', "data:"),
    fc.constantFrom("é", "漢", "🙂", "👩‍👩‍👧", "\ud83d", "\ude42"),
    fc.string({ minLength: 1, maxLength: 1 }),
  ),
});
const key = text.filter((name) => name !== "__proto__");
const { value: json } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: "json" },
    text,
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4, depthIdentifier: "json" }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, depthIdentifier: "json", noNullPrototype: true }),
  ),
}));
const object: fc.Arbitrary<JsonObject> = fc.dictionary(key, json, { maxKeys: 4, noNullPrototype: true });
const id = fc.oneof(fc.maxSafeInteger(), text);
const errorCode = fc.integer({ min: -33_000, max: 1000 });

const message: fc.Arbitrary<{ written: string; message: Message }> = fc.oneof(
  fc.record({ id, method: text, params: object }).map((request) => ({
    written: writeRequest(request.id, request.method, request.params),
    message: { kind: "request" as const, ...request },
  })),
  fc.record({ method: text, params: object }).map((notification) => ({
    written: writeNotification(notification.method, notification.params),
    message: { kind: "notification" as const, ...notification },
  })),
  fc.record({ id, result: object }).map((result) => ({
    written: writeResult(result.id, JSON.stringify(result.result)),
    message: { kind: "result" as const, ...result },
  })),
  fc
    .record({ id: fc.option(id, { nil: undefined }), code: errorCode, message: text, data: json })
    .map(({ id, ...error }) => ({
      written: writeError(id, error),
      message: { kind: "error" as const, id, error },
    })),
);

/** What cut a stream into pieces: the lengths, taken over and over. */
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });

function* pieces(bytes: Uint8Array, lengths: readonly number[]): Generator<string> {
  const decoder = new TextDecoder();
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const end = start + (lengths[turn % lengths.length] as number);
    yield decoder.decode(bytes.subarray(start, end), { stream: true });
    start = end;
  }
  yield decoder.decode();
}

function linesOf(parts: Iterable<string>): string[] {
  const lines: string[] = [];
  const reader = new LineReader(
    (line) => lines.push(line),
    () => expect.unreachable(),
  );
  for (const part of parts) reader.push(part);
  reader.end();
  return lines;
}

describe(`any message (seed ${seed})`, () => {
  test("is read as it was written", () => {
    fc.assert(
      fc.property(message, ({ written, message }) => {
        expect(parseMessage(written)).toEqual(message);
        expect(parseMessages(written)).toEqual(message);
        expect(parseMessages(`\n [${written}, ${written}]`)).toEqual([message, message]);
      }),
      { seed, numRuns: 200 },
    );
  });

  test("as a line comes out of any pieces", () => {
    const messages = fc.array(message, { maxLength: 5 });
    const end = fc.constantFrom("\n", "\r\n", "\n\n");
    fc.assert(
      fc.property(messages, lengths, end, (messages, lengths, end) => {
        const bytes = new TextEncoder().encode(messages.map(({ written }) => written + end).join(""));
        expect(linesOf(pieces(bytes, lengths)).map((line) => parseMessage(line))).toEqual(
          messages.map(({ message }) => message),
        );
      }),
      { seed, numRuns: 200 },
    );
  });

  test("as lines comes out of a cut at every byte and every character", () => {
    for (const messages of fc.sample(fc.array(message, { minLength: 2, maxLength: 3 }), {
      seed,
      numRuns: 10,
    })) {
      const written = messages.map(({ written }) => written);
      const stream = `${written.join("\n")}\n`;
      const bytes = new TextEncoder().encode(stream);
      for (let at = 0; at <= bytes.length; at++) {
        const decoder = new TextDecoder();
        const halves = [bytes.subarray(0, at), bytes.subarray(at)];
        expect(linesOf(halves.map((half) => decoder.decode(half, { stream: true })))).toEqual(written);
      }
      for (let at = 0; at <= stream.length; at++) {
        expect(linesOf([stream.slice(0, at), stream.slice(at)])).toEqual(written);
      }
    }
  });

  test("as an event is read by a parser of events out of any pieces", () => {
    const events = fc.array(fc.record({ message, id: fc.option(fc.uuid()), noise: fc.boolean() }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(events, lengths, (events, lengths) => {
        const stream = events.map(({ message: { written }, id, noise }) => {
          const event = id === null ? sseEvent(written) : sseEventWithId(id, written);
          return noise ? `${SSE_KEEP_ALIVE}${event}` : event;
        });
        const read: unknown[] = [];
        const parser = createParser({
          onEvent: ({ event, id, data }) => read.push([event, id, parseMessage(data)]),
          onError: (error) => expect.unreachable(error.message),
        });
        for (const piece of pieces(new TextEncoder().encode(stream.join("")), lengths)) parser.feed(piece);
        expect(read).toEqual(
          events.map(({ message: { message }, id }) => ["message", id ?? undefined, message]),
        );
      }),
      { seed, numRuns: 200 },
    );
  });

  test("is preceded by events that are none: a primer and a retry", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.nat(), message, (id, retry, { written, message }) => {
        const read: unknown[] = [];
        const retries: number[] = [];
        const parser = createParser({
          onEvent: ({ id, data }) => read.push([id, data === "" ? undefined : parseMessage(data)]),
          onRetry: (ms) => retries.push(ms),
        });
        parser.feed(ssePrimer(id, retry) + sseEvent(written) + sseRetry(retry) + ssePrimer(id));
        expect(read[0]).toEqual([id, undefined]);
        expect(read[1]).toEqual([undefined, message]);
        expect(retries).toEqual([retry, retry]);
      }),
      { seed },
    );
  });
});

describe(`any value of a header (seed ${seed})`, () => {
  test("is decoded as it was, and is nothing but printable ASCII in between", () => {
    // Half of a pair is no text that UTF-8 has: it is the one thing that cannot be carried.
    const whole = text.map((value) => Buffer.from(value).toString());
    const sentinels = fc.oneof(
      whole,
      whole.map((value) => `=?base64?${value}?=`),
      whole.map(encodeHeaderValue),
    );
    fc.assert(
      fc.property(sentinels, (value) => {
        const encoded = encodeHeaderValue(value);
        expect(encoded).toMatch(/^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/);
        expect(decodeHeaderValue(encoded)).toBe(value);
        // What a header carries is the same however often it is taken through one.
        expect(new Headers({ "mcp-name": encoded }).get("mcp-name")).toBe(encoded);
      }),
      { seed, numRuns: 500 },
    );
  });

  test("that is encoded wrongly is nothing, never something else", () => {
    const broken = fc
      .tuple(fc.string({ minLength: 1 }), fc.nat(), fc.constantFrom("*", "é", " ", "="))
      .map(([value, at, wrong]) => {
        const base64 = Buffer.from(value).toString("base64");
        const place = at % base64.replace(/=+$/, "").length;
        return `=?base64?${base64.slice(0, place)}${wrong}${base64.slice(place)}?=`;
      });
    fc.assert(
      fc.property(broken, (value) => {
        expect(decodeHeaderValue(value)).toBeUndefined();
      }),
      { seed },
    );
  });
});

describe(`any result (seed ${seed})`, () => {
  const META = '"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}';
  const block = fc.oneof(
    text.map((text) => ({ type: "text", text })),
    fc.record({ type: fc.constantFrom("image", "audio"), data: fc.base64String(), mimeType: text }),
    fc.record({ type: fc.constant("resource_link"), name: text, uri: fc.webUrl(), title: text }),
    fc.record({
      type: fc.constant("resource"),
      resource: fc.record({ uri: fc.webUrl(), text, _meta: object }),
    }),
    object,
  );
  const result = fc.record(
    { content: fc.array(block), structuredContent: json, _meta: object, isError: fc.boolean(), other: json },
    { requiredKeys: [] },
  );
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

  test("is whole in the newest revision, with what that adds", () => {
    const newest = wireOf("2026-07-28");
    fc.assert(
      fc.property(result, (given) => {
        const { _meta, resultType, ...rest } = JSON.parse(newest.writeResult({ ...given }, META));
        const { _meta: own = {}, ...others } = given;
        expect(rest).toEqual(plain(others));
        expect(resultType).toBe("complete");
        expect(_meta).toEqual({
          ...plain(own),
          "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" },
        });
      }),
      { seed, numRuns: 200 },
    );
  });

  test.each(LEGACY_REVISIONS)(
    "in %s is JSON, loses no block, and writing it again changes nothing",
    (revision) => {
      const wire = wireOf(revision);
      fc.assert(
        fc.property(result, (given) => {
          const before = plain(given);
          const written = JSON.parse(wire.writeResult({ ...given }, META));
          expect(plain(given)).toEqual(before);
          expect(written.content?.length).toBe(given.content?.length);
          expect(JSON.parse(wire.writeResult(written, META))).toEqual(written);
        }),
        { seed, numRuns: 200 },
      );
    },
  );

  test.each(REVISIONS)("in %s is on one line", (revision) => {
    fc.assert(
      fc.property(id, result, (id, given) => {
        expect(writeResult(id, wireOf(revision).writeResult({ ...given }, META))).not.toMatch(/[\n\r]/);
      }),
      { seed },
    );
  });
});
