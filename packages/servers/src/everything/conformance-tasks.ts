/** The suite's tools that run as tasks, and one that does not; names and texts are the suite's. */

import { setTimeout as delay } from "node:timers/promises";
import { ErrorCode, type JsonSchema, ProtocolError } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";

/** Long enough that a client sees a task at work. */
const WORK = 500;

const CONFIRMATION: JsonSchema = {
  type: "object",
  properties: { confirm: { type: "boolean" } },
  required: ["confirm"],
};

/** Gives a server the suite's tasks. */
export function addTasks(server: McpServer): void {
  server.tool(
    "greet",
    {
      description: "Greets, at once: never a task",
      input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    },
    ({ name }) => `Hello, ${name}!`,
  );
  server.tool(
    "slow_compute",
    {
      description: "Takes its time",
      input: {
        type: "object",
        properties: { seconds: { type: "number", minimum: 0, maximum: 60 }, label: { type: "string" } },
      },
      task: true,
    },
    async ({ seconds = 1, label = "work" }, { signal }) => {
      await delay(1000 * Number(seconds), undefined, { signal });
      return `${label} took ${seconds} seconds`;
    },
  );
  server.tool(
    "failing_job",
    { description: "Fails, for clients that take tasks", task: "required" },
    async (_args, { signal }) => {
      await delay(WORK, undefined, { signal });
      throw new Error("The job failed, as it always does");
    },
  );
  server.tool(
    "protocol_error_job",
    { description: "Ends with an error of the protocol", task: true },
    async (_args, { signal }) => {
      await delay(WORK, undefined, { signal });
      throw new ProtocolError(ErrorCode.InternalError, "The job ended with an error of the protocol");
    },
  );
  addAskingTasks(server);
}

function addAskingTasks(server: McpServer): void {
  server.tool(
    "confirm_delete",
    {
      description: "Asks before it would delete",
      input: { type: "object", properties: { filename: { type: "string" } } },
      task: true,
    },
    async ({ filename = "the file" }, ctx) => {
      const answer = await ctx.elicit(`Delete ${filename}?`, CONFIRMATION);
      const sure = answer.action === "accept" && answer.content.confirm === true;
      return sure ? `Deleted ${filename}` : `Kept ${filename}`;
    },
  );
  server.tool(
    "multi_input",
    { description: "Asks two questions at once", task: true },
    async (_args, ctx) => {
      const answers = await Promise.all([
        ctx.elicit("Is this right?", CONFIRMATION, { key: "first" }),
        ctx.elicit("And this?", CONFIRMATION, { key: "second" }),
      ]);
      return JSON.stringify(answers);
    },
  );
  server.tool(
    "test_tool_with_task",
    { description: "Asks first, and becomes a task then", task: { required: true, deferred: true } },
    async (_args, ctx) => {
      const answer = await ctx.elicit(
        "What is your name?",
        { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
        { key: "user_name" },
      );
      await ctx.defer();
      await delay(WORK, undefined, { signal: ctx.signal });
      return answer.action === "accept" ? `Hello, ${answer.content.name}!` : "Hello, whoever you are!";
    },
  );
}
