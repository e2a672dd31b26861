/** Each text is told to be one kind of message, or what is wrong with it and whom to tell. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  parseMessage,
  toMessage,
  writeError,
  writeNotification,
  writeRequest,
  writeResult,
} from "../src/jsonrpc.ts";

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const INVALID_PARAMS = -32602;

describe("what is a message", () => {
  test.each([
    ['{"jsonrpc":"2.0","id":1,"method":"ping"}', { kind: "request", id: 1, method: "ping", params: {} }],
    [
      '{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}',
      { kind: "request", id: "a", method: "m", params: { x: 1 } },
    ],
    ['{"jsonrpc":"2.0","id":"","method":"m"}', { kind: "request", id: "", method: "m", params: {} }],
    ['{"jsonrpc":"2.0","id":0,"method":"m"}', { kind: "request", id: 0, method: "m", params: {} }],
    ['{"jsonrpc":"2.0","id":-7,"method":""}', { kind: "request", id: -7, method: "", params: {} }],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","more":true}',
      { kind: "request", id: 1, method: "m", params: {} },
    ],
    [' \r\n{"jsonrpc":"2.0","method":"m"} ', { kind: "notification", method: "m", params: {} }],
    ['{"jsonrpc":"2.0","id":1,"result":{}}', { kind: "result", id: 1, result: {} }],
    [
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
      { kind: "error", id: 1, error: { code: -1, message: "no" } },
    ],
    [
      '{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}',
      { kind: "error", id: undefined, error: { code: -1, message: "no" } },
    ],
    [
      '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":""}}',
      { kind: "error", id: undefined, error: { code: -1, message: "" } },
    ],
  ])("%s", (text, message) => {
    expect(parseMessage(text)).toEqual(message);
  });
});

describe("what is none", () => {
  test.each<[string, number, string | number | undefined, string]>([
    ["", PARSE_ERROR, undefined, "not valid JSON"],
    ["hello", PARSE_ERROR, undefined, "not valid JSON"],
    ['{"jsonrpc":"2.0","id":1,"method":"m"', PARSE_ERROR, undefined, "not valid JSON"],
    ['{"jsonrpc":"2.0","id":1}{}', PARSE_ERROR, undefined, "not valid JSON"],
    ["null", INVALID_REQUEST, undefined, "not null"],
    ["1", INVALID_REQUEST, undefined, "not a number"],
    ['"ping"', INVALID_REQUEST, undefined, "not a string"],
    ["[]", INVALID_REQUEST, undefined, "an array"],
    ['[{"jsonrpc":"2.0","id":1,"method":"m"}]', INVALID_REQUEST, undefined, "an array"],
    ["{}", INVALID_REQUEST, undefined, '"jsonrpc" must be "2.0"'],
    ['{"id":1,"method":"m"}', INVALID_REQUEST, 1, '"jsonrpc" must be "2.0"'],
    ['{"jsonrpc":"1.0","id":1,"method":"m"}', INVALID_REQUEST, 1, '"jsonrpc" must be "2.0"'],
    ['{"jsonrpc":2.0,"id":"x","method":"m"}', INVALID_REQUEST, "x", '"jsonrpc" must be "2.0"'],
    ['{"jsonrpc":"2.0","id":null,"method":"m"}', INVALID_REQUEST, undefined, '"id" must be'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"m"}', INVALID_REQUEST, undefined, '"id" must be'],
    ['{"jsonrpc":"2.0","id":1e400,"method":"m"}', INVALID_REQUEST, undefined, '"id" must be'],
    ['{"jsonrpc":"2.0","id":true,"method":"m"}', INVALID_REQUEST, undefined, '"id" must be'],
    ['{"jsonrpc":"2.0","id":{},"method":"m"}', INVALID_REQUEST, undefined, '"id" must be'],
    ['{"jsonrpc":"2.0","id":[1],"method":"m"}', INVALID_REQUEST, undefined, '"id" must be'],
    ['{"jsonrpc":"2.0","id":1,"method":1}', INVALID_REQUEST, 1, '"method" must be a string, not a number'],
    ['{"jsonrpc":"2.0","id":1,"method":null}', INVALID_REQUEST, 1, '"method" must be a string, not null'],
    [
      '{"jsonrpc":"2.0","id":1,"method":["m"]}',
      INVALID_REQUEST,
      1,
      '"method" must be a string, not an array',
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","params":[]}',
      INVALID_PARAMS,
      1,
      '"params" must be an object, not an array',
    ],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}',
      INVALID_PARAMS,
      1,
      '"params" must be an object, not a string',
    ],
    [
      '{"jsonrpc":"2.0","method":"m","params":1}',
      INVALID_PARAMS,
      undefined,
      '"params" must be an object, not a number',
    ],
    ['{"jsonrpc":"2.0"}', INVALID_REQUEST, undefined, 'has a "method"'],
    ['{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, 1, 'has a "method"'],
    ['{"jsonrpc":"2.0","result":{}}', INVALID_REQUEST, undefined, 'has a "method"'],
    ['{"jsonrpc":"2.0","id":1,"result":1}', INVALID_REQUEST, 1, '"result" must be an object'],
    ['{"jsonrpc":"2.0","id":1,"result":null}', INVALID_REQUEST, 1, '"result" must be an object'],
    ['{"jsonrpc":"2.0","id":1,"error":"no"}', INVALID_REQUEST, 1, 'has a "method"'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":""}}', INVALID_REQUEST, 1, 'has a "method"'],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1}}', INVALID_REQUEST, 1, 'has a "method"'],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', INVALID_REQUEST, 1, "not both"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":"no"}', INVALID_REQUEST, 1, "not both"],
    ["[".repeat(100_000) + "]".repeat(100_000), INVALID_REQUEST, undefined, "maxDepth"],
    ["[".repeat(100_000), PARSE_ERROR, undefined, "not valid JSON"],
  ])("%.80s", (text, code, id, says) => {
    const message = parseMessage(text);
    expect(message).toMatchObject({ kind: "invalid", error: { code } });
    expect(message).toHaveProperty("id", id);
    expect((message as { error: { message: string } }).error.message).toContain(says);
  });

  test("a passed limit is named in the data", () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{}}}';
    const message = parseMessage(text, { maxDepth: 2, maxValues: 100 });
    expect(message).toMatchObject({ kind: "invalid", error: { data: { limit: "maxDepth", value: 2 } } });
  });

  test("never throws, whatever the text or the value", () => {
    fc.assert(fc.property(fc.string(), (text) => void parseMessage(text)));
    const member = fc.oneof(fc.jsonValue(), fc.constant("2.0"));
    const near = fc.record(
      { jsonrpc: member, id: member, method: member, params: member, result: member, error: member },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(near, (value) => void toMessage(JSON.parse(JSON.stringify(value)))));
  });
});

describe("what is written is read again", () => {
  const id = fc.oneof(fc.string(), fc.maxSafeInteger());
  const params = fc.dictionary(
    fc.string().filter((key) => key !== "__proto__"),
    fc.jsonValue({ maxDepth: 3 }),
  );

  test("requests and notifications", () => {
    fc.assert(
      fc.property(id, fc.string(), params, (id, method, given) => {
        const params = JSON.parse(JSON.stringify(given));
        fc.pre(!JSON.stringify(params).includes("__proto__"));
        const request = { kind: "request", id: Object.is(id, -0) ? 0 : id, method, params };
        expect(parseMessage(writeRequest(id, method, params))).toEqual(request);
        expect(parseMessage(writeRequest(id, method, JSON.stringify(params)))).toEqual(request);
        expect(parseMessage(writeNotification(method, params))).toEqual({
          kind: "notification",
          method,
          params,
        });
      }),
    );
  });

  test("without params there is no such member", () => {
    expect(writeRequest(1, "ping")).toBe('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    expect(writeNotification("m")).toBe('{"jsonrpc":"2.0","method":"m"}');
  });

  test("results and errors", () => {
    fc.assert(
      fc.property(id, fc.string(), (given, message) => {
        const id = Object.is(given, -0) ? 0 : given;
        expect(parseMessage(writeResult(id, '{"a":1}'))).toEqual({ kind: "result", id, result: { a: 1 } });
        const error = { code: -32603, message, data: { why: message } };
        expect(parseMessage(writeError(id, error))).toEqual({ kind: "error", id, error });
      }),
    );
  });

  test("an error for nobody in particular has no id", () => {
    expect(writeError(undefined, { code: -32700, message: "x" })).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}',
    );
  });
});
