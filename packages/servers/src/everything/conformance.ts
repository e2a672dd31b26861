/** What the official conformance suite expects a server to offer; names and texts are the suite's. */

import { setTimeout as delay } from "node:timers/promises";
import type { ContentBlock, JsonSchema } from "@patchbay/core";
import type { Context, McpServer } from "@patchbay/server";
import { addQuestions } from "./conformance-questions.ts";
import { addTasks } from "./conformance-tasks.ts";
import { RED_PIXEL_PNG, SILENCE_WAV } from "./samples.ts";

const PAUSE = 50;

const image: ContentBlock = { type: "image", data: RED_PIXEL_PNG, mimeType: "image/png" };

const contactSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Gives a server the suite's tools, resources and prompts. */
export function addConformance(server: McpServer): void {
  addTools(server);
  addQuestions(server);
  addTasks(server);
  addResources(server);
  addPrompts(server);
  addTriggers(server);
}

function addTools(server: McpServer): void {
  server.tool(
    "test_simple_text",
    { description: "Gives one text" },
    () => "This is a simple text response for testing.",
  );
  server.tool("test_image_content", { description: "Gives an image" }, () => image);
  server.tool("test_audio_content", { description: "Gives a sound" }, () => ({
    type: "audio",
    data: SILENCE_WAV,
    mimeType: "audio/wav",
  }));
  server.tool("test_embedded_resource", { description: "Gives an embedded resource" }, () => ({
    type: "resource",
    resource: {
      uri: "test://embedded-resource",
      mimeType: "text/plain",
      text: "This is an embedded resource content.",
    },
  }));
  server.tool("test_multiple_content_types", { description: "Gives a text, an image and a resource" }, () => [
    { type: "text", text: "Multiple content types test:" },
    image,
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: JSON.stringify({ test: "data", value: 123 }),
      },
    },
  ]);
  server.tool("test_tool_with_logging", { description: "Logs three messages while it runs" }, logThrice);
  server.tool("test_logging_tool", { description: "Logs, for clients that ask for it" }, logThrice);
  server.tool("test_error_handling", { description: "Fails, always" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.tool(
    "test_tool_with_progress",
    { description: "Reports its progress three times" },
    async (_args, ctx) => {
      ctx.progress(0, 100);
      await delay(PAUSE, undefined, { signal: ctx.signal });
      ctx.progress(50, 100);
      await delay(PAUSE, undefined, { signal: ctx.signal });
      ctx.progress(100, 100);
      return "Progress was reported.";
    },
  );
  server.tool(
    "test_reconnection",
    { description: "Lets go of its connection, where the client can come back for the result" },
    async (_args, ctx) => {
      ctx.detach(PAUSE);
      await delay(2 * PAUSE, undefined, { signal: ctx.signal });
      return "This came after the client had come back.";
    },
  );
  server.tool(
    "json_schema_2020_12_tool",
    { description: "Tool with JSON Schema 2020-12 features", input: contactSchema },
    (args) => `Contact: ${JSON.stringify(args)}`,
  );
  server.tool(
    "test_x_mcp_header",
    {
      description: "Takes an argument that clients also send as an HTTP header",
      input: {
        type: "object",
        properties: { region: { type: "string", "x-mcp-header": "Region" } },
        required: ["region"],
      },
    },
    ({ region }) => `Region: ${region}`,
  );
}

async function logThrice(_args: unknown, ctx: Context): Promise<string> {
  ctx.log("info", "Tool execution started");
  await delay(PAUSE, undefined, { signal: ctx.signal });
  ctx.log("info", "Tool processing data");
  await delay(PAUSE, undefined, { signal: ctx.signal });
  ctx.log("info", "Tool execution completed");
  return "Messages were logged.";
}

function addResources(server: McpServer): void {
  server.resource(
    "test://static-text",
    { name: "static-text", description: "A text that stays the same", mimeType: "text/plain" },
    () => "This is the content of the static text resource.",
  );
  server.resource(
    "test://static-binary",
    { name: "static-binary", description: "An image that stays the same", mimeType: "image/png" },
    () => Buffer.from(RED_PIXEL_PNG, "base64"),
  );
  server.resource(
    "test://watched-resource",
    { name: "watched-resource", description: "A text to subscribe to", mimeType: "text/plain" },
    () => "This resource can be watched.",
  );
  server.resourceTemplate(
    "test://template/{id}/data",
    { name: "template-data", description: "Data of an id", mimeType: "application/json" },
    (_uri, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );
}

function addPrompts(server: McpServer): void {
  server.prompt(
    "test_simple_prompt",
    { description: "A prompt with no arguments" },
    () => "This is a simple prompt for testing.",
  );
  server.prompt(
    "test_prompt_with_arguments",
    {
      description: "A prompt with two arguments",
      arguments: [
        { name: "arg1", description: "First test argument", required: true },
        { name: "arg2", description: "Second test argument", required: true },
      ],
      complete: { arg1: (value) => ["test1", "test2", "party"].filter((word) => word.startsWith(value)) },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  server.prompt(
    "test_prompt_with_embedded_resource",
    {
      description: "A prompt with a resource in it",
      arguments: [{ name: "resourceUri", description: "URI of the resource to embed", required: true }],
    },
    ({ resourceUri = "" }) => [
      {
        role: "user",
        content: {
          type: "resource",
          resource: {
            uri: resourceUri,
            mimeType: "text/plain",
            text: "Embedded resource content for testing.",
          },
        },
      },
      { role: "user", content: { type: "text", text: "Please process the embedded resource above." } },
    ],
  );
  server.prompt("test_prompt_with_image", { description: "A prompt with an image in it" }, () => [
    { role: "user", content: image },
    { role: "user", content: { type: "text", text: "Please analyze the image above." } },
  ]);
}

/** Tools that change what is offered: what they add at one call they take away at the next. */
function addTriggers(server: McpServer): void {
  const added = "test_added";
  server.tool("test_trigger_tool_change", { description: "Adds a tool, or takes it away again" }, () => {
    if (server.removeTool(added)) return "The tool is gone.";
    server.tool(added, { description: "Was added while the server ran" }, () => "Here I am.");
    return "The tool is there.";
  });
  server.tool("test_trigger_prompt_change", { description: "Adds a prompt, or takes it away again" }, () => {
    if (server.removePrompt(added)) return "The prompt is gone.";
    server.prompt(added, { description: "Was added while the server ran" }, () => "Here I am.");
    return "The prompt is there.";
  });
}
