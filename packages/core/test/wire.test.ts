/** What each revision writes for the same model. */

import { describe, expect, test } from "vitest";
import { ProtocolError, ResourceNotFoundError } from "../src/errors.ts";
import { REVISIONS } from "../src/revisions.ts";
import { wireOf } from "../src/wire/wire.ts";

const modern = wireOf("2026-07-28");
const legacy = wireOf("2025-11-25");
const SERVER_META = '"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}';
const SERVER = { "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } };
const HINTS = { ttlMs: 1_000, cacheScope: "public" } as const;

test.each(REVISIONS)("%s has a wire of its own", (revision) => {
  expect(wireOf(revision).revision).toBe(revision);
});

describe("2026-07-28", () => {
  const written = (result: object) => JSON.parse(modern.writeResult({ ...result }, SERVER_META));

  test("a result says its type and its server", () => {
    expect(written({})).toEqual({ resultType: "complete", _meta: SERVER });
    expect(written({ content: [], isError: true })).toEqual({
      resultType: "complete",
      content: [],
      isError: true,
      _meta: SERVER,
    });
  });

  test("a handler's own _meta and resultType are kept", () => {
    expect(
      written({ resultType: "input_required", _meta: { "example.com/a": 1 }, inputRequests: {} }),
    ).toEqual({
      resultType: "input_required",
      inputRequests: {},
      _meta: { ...SERVER, "example.com/a": 1 },
    });
    expect(written({ _meta: {} })).toEqual({ resultType: "complete", _meta: SERVER });
    expect(written({ resultType: 'a"b' })).toMatchObject({ resultType: 'a"b' });
  });

  test("structured content is any JSON value, and undefined members are left out", () => {
    expect(written({ content: [], structuredContent: [1] })).toMatchObject({ structuredContent: [1] });
    expect(written({ content: [], structuredContent: undefined })).not.toHaveProperty("structuredContent");
  });

  test("a page says how long it may be kept", () => {
    expect(
      JSON.parse(modern.writePage('"tools":[{"name":"a"}],"nextCursor":""', HINTS, SERVER_META)),
    ).toEqual({
      resultType: "complete",
      tools: [{ name: "a" }],
      nextCursor: "",
      ttlMs: 1_000,
      cacheScope: "public",
      _meta: SERVER,
    });
  });

  test("a definition is written as it is", () => {
    const tool = { name: "a", inputSchema: { type: "object" }, outputSchema: { type: "array" } };
    expect(JSON.parse(modern.writeDefinition(tool))).toEqual(tool);
  });

  test("an unknown resource is wrong params", () => {
    expect(modern.error(new ResourceNotFoundError("file:///a"))).toEqual({
      code: -32602,
      message: "Resource not found: file:///a",
      data: { uri: "file:///a" },
    });
  });
});

describe("2025-11-25", () => {
  const written = (result: object) => JSON.parse(legacy.writeResult({ ...result }, SERVER_META));

  test("a result has neither type, server nor hints", () => {
    expect(written({ content: [], ...HINTS, _meta: { a: 1 } })).toEqual({ content: [], _meta: { a: 1 } });
    expect(written({})).toEqual({});
  });

  test.each([[[1, 2]], ["text"], [7], [null], [false]])(
    "structured content %j is left out: no object",
    (value) => {
      expect(written({ content: [], structuredContent: value })).toEqual({ content: [] });
    },
  );

  test("structured content that is an object stays", () => {
    const result = { content: [], structuredContent: { a: [1] } };
    expect(written(result)).toEqual(result);
  });

  test("an output schema that is no object's is left out", () => {
    const tool = { name: "a", inputSchema: { type: "object" } };
    const write = (type: string) => JSON.parse(legacy.writeDefinition({ ...tool, outputSchema: { type } }));
    expect(write("object")).toEqual({ ...tool, outputSchema: { type: "object" } });
    expect(write("array")).toEqual(tool);
  });

  test("a page has no hints", () => {
    expect(legacy.writePage('"tools":[]', HINTS, SERVER_META)).toBe('{"tools":[]}');
  });

  test("an unknown resource has a code of its own", () => {
    expect(legacy.error(new ResourceNotFoundError("file:///a"))).toMatchObject({ code: -32002 });
  });
});

test.each(REVISIONS)("%s tells a ProtocolError as it is, and nothing of any other", (revision) => {
  const { error } = wireOf(revision);
  expect(error(new ProtocolError(-1, "told", { a: 1 }))).toEqual({
    code: -1,
    message: "told",
    data: { a: 1 },
  });
  expect(error(new ProtocolError(-1, "told"))).toEqual({ code: -1, message: "told" });
  for (const thrown of [new Error("password at /srv"), "password", undefined, null]) {
    expect(error(thrown)).toEqual({ code: -32603, message: "Internal error" });
  }
});

test.each<{ content: object[]; isError?: boolean }>([
  { content: [{ type: "text", text: 'Quotes ", \\ and \n, ü, 😀, \ud800' }] },
  { content: [{ type: "text", text: "" }] },
  { content: [{ type: "text", text: "a", annotations: { priority: 1 } }] },
  { content: [{ type: "image", text: "no text" }] },
  { content: [{ type: "text", text: "a" }], isError: true },
  {
    content: [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
  },
  { content: [] },
])("a result is written whole, of one text or more: %j", (result) => {
  expect(wireOf("2025-11-25").writeResult(result, "")).toBe(JSON.stringify(result));
});
