/** Tools that ask the client, made with the official SDK v1: requests that are pushed. */

import {
  CreateMessageResultSchema,
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  RootsListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { tell } from "./happenings.mjs";
import * as offer from "./offer.mjs";

const say = (text) => ({ content: [{ type: "text", text }] });

export function offerQuestions(mcp) {
  // With the request: the server's own methods would put a question on the session's own stream over HTTP.
  const elicit = (extra, message, requestedSchema) =>
    extra.sendRequest(
      { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
      ElicitResultSchema,
    );
  const sample = (extra, params) =>
    extra.sendRequest(
      { method: "sampling/createMessage", params },
      params.tools ? CreateMessageResultWithToolsSchema : CreateMessageResultSchema,
    );
  const roots = async (extra) =>
    (await extra.sendRequest({ method: "roots/list" }, ListRootsResultSchema)).roots;

  mcp.registerTool("ask_form", {}, async (extra) =>
    say(offer.answerOf(await elicit(extra, "Book", offer.FORM))),
  );
  mcp.registerTool("ask_page", {}, async (extra) => {
    const params = { mode: "url", message: "Choose", url: offer.PAGE, elicitationId: "seats-1" };
    return say(
      offer.answerOf(await extra.sendRequest({ method: "elicitation/create", params }, ElicitResultSchema)),
    );
  });
  mcp.registerTool("ask_twice", {}, async (extra) => {
    const { name } = (await elicit(extra, "Your name?", offer.NAME_FORM)).content;
    const { seats } = (await elicit(extra, `${name}, how many seats?`, offer.SEATS_FORM)).content;
    return say(`${seats} for ${name}`);
  });
  mcp.registerTool("ask_together", {}, async (extra) => {
    const [first, answer, list] = await Promise.all([
      elicit(extra, "Your name?", offer.NAME_FORM),
      sample(extra, offer.SAMPLE),
      roots(extra),
    ]);
    return say(`${first.content.name}, ${offer.textOf(answer)}, ${list.length}`);
  });
  mcp.registerTool("ask_model", {}, async (extra) => {
    const answer = await sample(extra, offer.SAMPLE);
    return say(`${answer.model}: ${offer.textOf(answer)}`);
  });
  mcp.registerTool("ask_model_with_tools", {}, async (extra) => {
    const use = await sample(extra, offer.SAMPLE_WITH_TOOLS);
    return say(offer.textOf(await sample(extra, offer.withToolResult(use))));
  });
  mcp.registerTool("ask_roots", {}, async (extra) => say(offer.rootsOf(await roots(extra))));
  mcp.experimental.tasks.registerToolTask(
    "rehearse",
    { execution: { taskSupport: "optional" } },
    {
      async createTask({ taskStore, sendRequest }) {
        const task = await taskStore.createTask({ ttl: null, pollInterval: 20 });
        const { taskId } = task;
        const params = { mode: "form", message: "Book", requestedSchema: offer.FORM };
        const asked = sendRequest({ method: "elicitation/create", params }, ElicitResultSchema, {
          relatedTask: { taskId },
        });
        void asked.then((answer) =>
          taskStore.storeTaskResult(taskId, "completed", say(offer.answerOf(answer))),
        );
        return { task };
      },
      getTask: ({ taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: ({ taskStore, taskId }) => taskStore.getTaskResult(taskId),
    },
  );
  mcp.server.setNotificationHandler(RootsListChangedNotificationSchema, () => tell("roots changed"));
}
