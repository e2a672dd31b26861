/** The everything server: what the conformance suite drives, and each of its own features. */

import { createHash } from "node:crypto";
import { type Client, connect } from "@patchbay/client";
import type { LogMessage, Progress } from "@patchbay/core";
import { compileSchema } from "@patchbay/core/schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEverything } from "../src/everything/index.ts";
import { NUMBERS } from "../src/everything/showcase.ts";

describe.each(["modern", "legacy"] as const)("to a %s client", (era) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(createEverything(), { era });
  });
  afterAll(() => client.close());

  const text = (value: string) => ({ content: [{ type: "text", text: value }] });

  it("describes each tool with a schema that can be used", async () => {
    const tools = await client.listTools();
    expect(tools.length).toBeGreaterThan(15);
    for (const { name, description, inputSchema, outputSchema } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_./-]{1,64}$/);
      expect(description).toBeTruthy();
      expect(() => compileSchema(inputSchema)).not.toThrow();
      if (outputSchema !== undefined) expect(() => compileSchema(outputSchema)).not.toThrow();
    }
  });

  it("lists all its tools on the first page, as the suite reads only that", async () => {
    const { nextCursor } = await client.request("tools/list", {});
    expect(nextCursor).toBeUndefined();
  });

  describe("what the suite calls", () => {
    it.each([
      ["test_simple_text", [{ type: "text", text: "This is a simple text response for testing." }]],
      ["test_image_content", [{ type: "image", mimeType: "image/png" }]],
      ["test_audio_content", [{ type: "audio", mimeType: "audio/wav" }]],
      ["test_embedded_resource", [{ type: "resource", resource: { uri: "test://embedded-resource" } }]],
      ["test_multiple_content_types", [{ type: "text" }, { type: "image" }, { type: "resource" }]],
    ])("%s", async (name, content) => {
      expect((await client.callTool(name)).content).toMatchObject(content);
    });

    it("test_error_handling", async () => {
      expect(await client.callTool("test_error_handling")).toMatchObject({
        ...text("This tool intentionally returns an error for testing"),
        isError: true,
      });
    });

    it("test_tool_with_progress", async () => {
      const seen: Progress[] = [];
      await client.callTool("test_tool_with_progress", {}, { onProgress: (each) => void seen.push(each) });
      expect(seen.map(({ progress, total }) => [progress, total])).toEqual([
        [0, 100],
        [50, 100],
        [100, 100],
      ]);
    });

    it("test_x_mcp_header", async () => {
      expect(await client.callTool("test_x_mcp_header", { region: "eu" })).toMatchObject(text("Region: eu"));
    });

    it("json_schema_2020_12_tool", async () => {
      const tool = (await client.listTools()).find(({ name }) => name === "json_schema_2020_12_tool");
      expect(tool?.inputSchema).toMatchObject({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        $defs: { address: { $anchor: "addressDef" } },
        allOf: [{ anyOf: [{}, {}] }],
        if: {},
        else: {},
        additionalProperties: false,
      });
      const good = await client.callTool("json_schema_2020_12_tool", { email: "a@b.c" });
      expect(good.isError).toBeFalsy();
      const bad = await client.callTool("json_schema_2020_12_tool", {
        contactMethod: "phone",
        email: "a@b.c",
      });
      expect(bad.isError).toBe(true);
    });

    it("resources", async () => {
      expect((await client.readResource("test://static-text")).contents).toEqual([
        {
          uri: "test://static-text",
          mimeType: "text/plain",
          text: "This is the content of the static text resource.",
        },
      ]);
      const [binary] = (await client.readResource("test://static-binary")).contents;
      expect(binary).toMatchObject({ mimeType: "image/png", blob: expect.stringMatching(/^iVBORw0KGgo/) });
      const [templated] = (await client.readResource("test://template/123/data")).contents;
      expect(JSON.parse((templated as { text: string }).text)).toEqual({
        id: "123",
        templateTest: true,
        data: "Data for ID: 123",
      });
    });

    it("prompts", async () => {
      const say = (value: string) => ({
        messages: [{ role: "user", content: { type: "text", text: value } }],
      });
      expect(await client.getPrompt("test_simple_prompt")).toMatchObject(
        say("This is a simple prompt for testing."),
      );
      expect(
        await client.getPrompt("test_prompt_with_arguments", { arg1: "hello", arg2: "world" }),
      ).toMatchObject(say("Prompt with arguments: arg1='hello', arg2='world'"));
      expect(
        await client.getPrompt("test_prompt_with_embedded_resource", { resourceUri: "test://x" }),
      ).toMatchObject({ messages: [{ content: { type: "resource", resource: { uri: "test://x" } } }, {}] });
      expect(await client.getPrompt("test_prompt_with_image")).toMatchObject({
        messages: [{ content: { type: "image", mimeType: "image/png" } }, {}],
      });
    });

    it("completion", async () => {
      const { completion } = await client.complete({
        ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
        argument: { name: "arg1", value: "te" },
      });
      expect(completion.values).toEqual(["test1", "test2"]);
    });
  });

  describe("its own", () => {
    it("echo", async () => {
      expect(await client.callTool("echo", { message: "Grüße 🙂" })).toMatchObject(text("Grüße 🙂"));
    });

    it("slow reports each step", async () => {
      const seen: number[] = [];
      const result = await client.callTool(
        "slow",
        { steps: 3, milliseconds: 0 },
        { onProgress: ({ progress }) => void seen.push(progress) },
      );
      expect(seen).toEqual([0, 1, 2, 3]);
      expect(result).toMatchObject(text("Took 3 steps."));
    });

    it("slow stops when it is cancelled", async () => {
      const cancel = new AbortController();
      const seen: number[] = [];
      const call = client.callTool(
        "slow",
        { steps: 2, milliseconds: 60_000 },
        {
          signal: cancel.signal,
          onProgress: ({ progress }) => {
            seen.push(progress);
            cancel.abort();
          },
        },
      );
      await expect(call).rejects.toThrow();
      expect(seen).toEqual([0]);
    });

    it("count_words", async () => {
      expect(await client.callTool("count_words", { text: "one two\nthree 🙂" })).toMatchObject({
        structuredContent: { words: 4, characters: 15, lines: 2 },
      });
    });

    it("link_numbers gives links that can be read", async () => {
      const { content } = await client.callTool("link_numbers", { count: 2 });
      expect(content).toMatchObject([{ type: "resource_link" }, { type: "resource_link" }]);
      const { uri } = content[1] as { uri: string };
      expect((await client.readResource(uri)).contents).toMatchObject([{ text: "2 is even." }]);
    });

    it("log sends what the client asked for", async () => {
      const seen: LogMessage[] = [];
      const loud = await connect(createEverything(), {
        era,
        logLevel: "error",
        onLog: (message) => void seen.push(message),
      });
      await loud.callTool("log", { message: "Listen" });
      await loud.close();
      expect(seen.map(({ level }) => level)).toEqual(["error", "critical", "alert", "emergency"]);
      expect(seen[0]).toMatchObject({ data: "Listen", logger: "showcase" });
    });

    it("fail", async () => {
      expect(await client.callTool("fail", { message: "Oh no" })).toMatchObject({
        ...text("Oh no"),
        isError: true,
      });
    });

    it("who_am_i", async () => {
      const other = await connect(createEverything(), { era, clientInfo: { name: "tester", version: "9" } });
      expect((await other.callTool("who_am_i")).structuredContent).toMatchObject({
        name: "tester",
        version: "9",
        revision: other.revision,
      });
      await other.close();
    });

    it("every_type fills in defaults and refuses what does not fit", async () => {
      const { content } = await client.callTool("every_type", { text: "x", either: 1, map: { a: 1 } });
      expect(JSON.parse((content[0] as { text: string }).text)).toEqual({
        text: "x",
        number: 1.5,
        integer: 1,
        flag: false,
        choice: "red",
        list: [],
        either: 1,
        map: { a: 1 },
      });
      const bad = await client.callTool("every_type", { text: "x", choice: "pink" });
      expect(bad).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("choice") }] });
    });

    it.each(["schema_draft_07", "schema_2020_12"])("%s", async (name) => {
      expect(await client.callTool(name, { pair: ["a", 1] })).toMatchObject(text('["a",1]'));
      for (const pair of [["a", 0], ["a", 1, 2], [1, 1], ["a"]]) {
        expect((await client.callTool(name, { pair })).isError).toBe(true);
      }
    });

    it("has a skill whose files are what its entry says", async () => {
      const { skills } = (await client.request("skills/list")) as { skills: { resources: Listed[] }[] };
      type Listed = { uri: string; digest: string; size: number };
      const files = skills.flatMap(({ resources }) => resources);
      expect(files.length).toBe(2);
      for (const { uri, digest, size } of files) {
        const [{ text } = { text: "" }] = (await client.readResource(uri)).contents as { text: string }[];
        expect(digest).toBe(`sha256:${createHash("sha256").update(text).digest("hex")}`);
        expect(size).toBe(Buffer.byteLength(text));
      }
      const nowhere = client.request("skills/get", { uri: "skill://nowhere/SKILL.md" });
      await expect(nowhere).rejects.toMatchObject({ code: -32602 });
    });

    it("has resources on several pages", async () => {
      const first = await client.request("resources/list", {});
      expect(first.nextCursor).toBeTypeOf("string");
      expect((await client.listResources()).length).toBe(NUMBERS + 5);
    });

    it("completes a template's variable by the other", async () => {
      const city = (country: string) =>
        client.complete({
          ref: { type: "ref/resource", uri: "everything://city/{country}/{city}" },
          argument: { name: "city", value: "" },
          context: { arguments: { country } },
        });
      expect((await city("france")).completion.values).toEqual(["Lyon", "Marseille", "Paris"]);
      expect((await city("constructor")).completion.values).toEqual([]);
      expect((await client.readResource("everything://city/japan/Kyoto")).contents).toMatchObject([
        { text: '{"country":"japan","city":"Kyoto"}' },
      ]);
      await expect(client.readResource("everything://city/japan/Paris")).rejects.toThrow(/not found/);
    });

    it("fills in prompts", async () => {
      const { messages } = await client.getPrompt("plan_trip", { country: "japan", city: "Kyoto" });
      expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
      await expect(client.getPrompt("rewrite", {})).rejects.toThrow(/text/);
    });
  });
});
