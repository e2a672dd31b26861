/** What a legacy client is asked and given fits its revision: nothing that came later, at any depth. */

import { describe, expect, test } from "vitest";
import { type InputRequest, REVISIONS, type Revision, wireOf } from "../src/index.ts";

const since = (first: string) => REVISIONS.map((revision) => [revision, revision >= first] as const);

const FORM = {
  type: "object" as const,
  properties: {
    name: { type: "string", minLength: 1, default: "Ada" },
    seats: { type: "integer", minimum: 1, default: 2 },
    sure: { type: "boolean", default: true },
    row: { type: "string", oneOf: [{ const: "a", title: "The first" }, { const: "b" }], default: "a" },
    extras: { type: "array", items: { type: "string", enum: ["x", "y"] } },
  },
  required: ["name"],
};

function asked(revision: Revision, request: InputRequest) {
  return wireOf(revision).inputRequest(request) as { params: Record<string, unknown> } | undefined;
}

describe("a form", () => {
  const request: InputRequest = {
    method: "elicitation/create",
    params: { message: "?", requestedSchema: FORM },
  };

  test.each(since("2025-11-25"))("of %s is whole: %s", (revision, whole) => {
    const question = asked(revision, request);
    if (revision < "2025-06-18") return expect(question).toBeUndefined();
    expect(question?.params.requestedSchema).toEqual(
      whole
        ? FORM
        : {
            type: "object",
            properties: {
              name: { type: "string", minLength: 1 },
              seats: { type: "integer", minimum: 1 },
              sure: { type: "boolean", default: true },
              row: { type: "string", enum: ["a", "b"], enumNames: ["The first", "b"] },
            },
            required: ["name"],
          },
    );
  });

  test("with a choice of several that must be made cannot be asked before", () => {
    const requestedSchema = { ...FORM, required: ["extras"] };
    const several: InputRequest = { method: "elicitation/create", params: { message: "?", requestedSchema } };
    expect(asked("2025-06-18", several)).toBeUndefined();
    expect(asked("2025-11-25", several)).toBeDefined();
  });
});

describe("sampling", () => {
  const messages = [
    {
      role: "user" as const,
      content: [
        {
          type: "text" as const,
          text: "Hear:",
          annotations: { priority: 1, lastModified: "2025-01-01" },
          _meta: { a: 1 },
        },
        { type: "audio" as const, data: "aGk=", mimeType: "audio/wav" },
      ],
      _meta: { b: 2 },
    },
    { role: "assistant" as const, content: { type: "text" as const, text: "Heard" } },
  ];

  test.each(since("2025-11-25"))("by %s has messages as they are: %s", (revision, whole) => {
    const request: InputRequest = { method: "sampling/createMessage", params: { messages, maxTokens: 1 } };
    const given = asked(revision, request)?.params.messages as typeof messages;
    if (whole) return expect(given).toEqual(messages);
    const annotations =
      revision < "2025-06-18" ? { priority: 1 } : { priority: 1, lastModified: "2025-01-01" };
    const text = {
      type: "text",
      text: "Hear:",
      annotations,
      ...(revision >= "2025-06-18" && { _meta: { a: 1 } }),
    };
    const audio =
      revision < "2025-03-26"
        ? { type: "text", text: "[audio: audio/wav, not part of this revision]" }
        : { type: "audio", data: "aGk=", mimeType: "audio/wav" };
    expect(given).toEqual([{ role: "user", content: text }, { role: "user", content: audio }, messages[1]]);
  });

  test.each(since("2025-11-25"))("by %s may tell of tools: %s", (revision, may) => {
    const use = { type: "tool_use" as const, id: "1", name: "t", input: {} };
    for (const params of [
      { messages: [{ role: "assistant" as const, content: use }], maxTokens: 1 },
      { messages: [], maxTokens: 1, tools: [] },
      { messages: [], maxTokens: 1, toolChoice: {} },
    ]) {
      expect(asked(revision, { method: "sampling/createMessage", params }) !== undefined).toBe(may);
    }
  });
});

describe("what lies deep", () => {
  const annotations = { audience: ["user"], lastModified: "2025-01-01" };
  const link = { type: "resource_link", uri: "test://a", name: "a", icons: [{ src: "data:," }] };

  test.each(since("2025-06-18"))("the time of the last change is told to %s: %s", (revision, told) => {
    const wire = wireOf(revision);
    const definition = JSON.parse(wire.writeDefinition({ uri: "test://a", name: "a", annotations }));
    const result = JSON.parse(
      wire.writeResult({ content: [{ type: "text", text: "a", annotations }] }, '"s":{}'),
    );
    for (const { annotations: given } of [definition, result.content[0]]) {
      expect(given).toEqual(told ? annotations : { audience: ["user"] });
    }
  });

  test("a link has icons since they are there", () => {
    const iconsOf = (revision: Revision) =>
      JSON.parse(wireOf(revision).writeResult({ content: [link] }, '"s":{}')).content[0].icons;
    expect(iconsOf("2026-07-28")).toEqual(link.icons);
    expect(iconsOf("2025-11-25")).toEqual(link.icons);
    expect(iconsOf("2025-06-18")).toBeUndefined();
  });
});
