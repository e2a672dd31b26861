/** The suite's tools and prompt that ask their client something while they run; names and texts are the suite's. */

import type { CreateMessageParams, CreateMessageResult, JsonSchema } from "@patchbay/core";
import type { Context, McpServer } from "@patchbay/server";

/** Gives a server the suite's questions: to the user, to the client's model, and about its roots. */
export function addQuestions(server: McpServer): void {
  addElicitations(server);
  addSampling(server);
  addInputRequired(server);
}

/** A form whose values are texts, all of them required. */
function form(...fields: string[]): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
    required: fields,
  };
}

const CONFIRMATION: JsonSchema = {
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
};

const DEFAULTS: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", description: "User name", default: "John Doe" },
    age: { type: "integer", description: "User age", default: 30 },
    score: { type: "number", description: "User score", default: 95.5 },
    status: {
      type: "string",
      description: "User status",
      enum: ["active", "inactive", "pending"],
      default: "active",
    },
    verified: { type: "boolean", description: "Verification status", default: true },
  },
  required: [],
};

const CHOICES: JsonSchema = {
  type: "object",
  properties: {
    untitledSingle: { type: "string", enum: ["option1", "option2", "option3"] },
    titledSingle: { type: "string", oneOf: titled("First Option", "Second Option", "Third Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: { type: "string", enum: ["option1", "option2", "option3"] },
    },
    titledMulti: {
      type: "array",
      minItems: 1,
      maxItems: 3,
      items: { anyOf: titled("First Choice", "Second Choice", "Third Choice") },
    },
  },
  required: [],
};

function titled(...titles: string[]): { const: string; title: string }[] {
  return titles.map((title, index) => ({ const: `value${index + 1}`, title }));
}

function addElicitations(server: McpServer): void {
  server.tool(
    "test_elicitation",
    {
      description: "Asks the user for a name and an address",
      input: {
        type: "object",
        properties: { message: { type: "string", description: "The message to show the user" } },
        required: ["message"],
      },
    },
    async ({ message }, ctx) =>
      `User response: ${told(await ctx.elicit(String(message), form("username", "email")))}`,
  );
  server.tool(
    "test_elicitation_sep1034_defaults",
    { description: "Asks with a form that has a default of each type" },
    async (_args, ctx) =>
      `Elicitation completed: ${told(await ctx.elicit("Please review the form's defaults", DEFAULTS))}`,
  );
  server.tool(
    "test_elicitation_sep1330_enums",
    { description: "Asks with a form that has a choice of each kind" },
    async (_args, ctx) =>
      `Elicitation completed: ${told(await ctx.elicit("Please select from the options", CHOICES))}`,
  );
  server.tool(
    "test_streaming_elicitation",
    { description: "Reports its progress, then asks the user to confirm" },
    async (_args, ctx) => {
      ctx.progress(50, 100);
      return `Confirmed: ${told(await ctx.elicit("Please confirm", CONFIRMATION, { key: "confirm" }))}`;
    },
  );
}

function told({ action, content = {} }: { action: string; content?: unknown }): string {
  return `action=${action}, content=${JSON.stringify(content)}`;
}

function addSampling(server: McpServer): void {
  server.tool(
    "test_sampling",
    {
      description: "Asks the client's model",
      input: {
        type: "object",
        properties: { prompt: { type: "string", description: "The prompt to send to the model" } },
        required: ["prompt"],
      },
    },
    async ({ prompt }, ctx) => `LLM response: ${textOf(await ctx.sample(prompting(String(prompt))))}`,
  );
  server.tool(
    "test_missing_capability",
    { description: "Needs a client with a model: others are told so" },
    async (_args, ctx) => `The model says: ${textOf(await ctx.sample(prompting("Say something")))}`,
  );
}

function prompting(text: string, maxTokens = 100): CreateMessageParams {
  return { messages: [{ role: "user", content: { type: "text", text } }], maxTokens };
}

function textOf({ content }: CreateMessageResult): string {
  return [content]
    .flat()
    .map((block) => (block.type === "text" ? block.text : `(${block.type})`))
    .join("\n");
}

function addInputRequired(server: McpServer): void {
  const askName = (ctx: Context) =>
    ctx.elicit("What is your name?", form("name"), { key: "user_name" }).then(told);
  const askConfirmation = (ctx: Context) => ctx.elicit("Please confirm", CONFIRMATION, { key: "confirm" });

  server.tool(
    "test_input_required_result_elicitation",
    { description: "Asks the user for a name" },
    async (_args, ctx) => `Hello, ${await askName(ctx)}!`,
  );
  server.tool(
    "test_input_required_result_sampling",
    { description: "Asks the client's model for a capital" },
    async (_args, ctx) =>
      textOf(await ctx.sample(prompting("What is the capital of France?"), { key: "capital_question" })),
  );
  server.tool(
    "test_input_required_result_list_roots",
    { description: "Asks for the client's roots" },
    async (_args, ctx) => JSON.stringify(await ctx.roots({ key: "client_roots" })),
  );
  server.tool(
    "test_input_required_result_request_state",
    { description: "Asks for a confirmation, and remembers that it did" },
    async (_args, ctx) => {
      const { action } = await askConfirmation(ctx);
      return `state-ok: ${action}`;
    },
  );
  server.tool(
    "test_input_required_result_tampered_state",
    { description: "Asks for a confirmation; what it remembers cannot be changed on the way" },
    async (_args, ctx) => {
      const { action } = await askConfirmation(ctx);
      return `integrity-ok: ${action}`;
    },
  );
  server.tool(
    "test_input_required_result_multiple_inputs",
    { description: "Asks the user, the model and for the roots at once" },
    async (_args, ctx) => {
      const answers = await Promise.all([
        askName(ctx),
        ctx.sample(prompting("Generate a greeting", 50), { key: "greeting" }).then(textOf),
        ctx.roots({ key: "client_roots" }),
      ]);
      return JSON.stringify(answers);
    },
  );
  server.tool(
    "test_input_required_result_multi_round",
    { description: "Asks one question after the other" },
    async (_args, ctx) => {
      const name = await ctx.elicit("Step 1: What is your name?", form("name"), { key: "step1" });
      const color = await ctx.elicit("Step 2: What is your favorite color?", form("color"), { key: "step2" });
      return `${told(name)}; ${told(color)}`;
    },
  );
  server.tool(
    "test_input_required_result_capabilities",
    { description: "Asks what the client can be asked" },
    async (_args, ctx) => {
      const { elicitation, sampling } = ctx.client.capabilities;
      const asked: Promise<string>[] = [];
      if (elicitation !== undefined) asked.push(askName(ctx));
      if (sampling !== undefined) {
        asked.push(ctx.sample(prompting("Generate a greeting", 50), { key: "greeting" }).then(textOf));
      }
      return `Answers: ${JSON.stringify(await Promise.all(asked))}`;
    },
  );
  server.prompt(
    "test_input_required_result_prompt",
    { description: "A prompt that asks the user for its context" },
    async (_args, ctx) =>
      `The context is: ${told(
        await ctx.elicit("What context should the prompt use?", form("context"), { key: "user_context" }),
      )}`,
  );
}
