/** Tools that ask the client, made with the official SDK v2: `input_required`, which it pushes to a legacy client. */

import { randomBytes } from "node:crypto";
import { createRequestStateCodec, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { tell } from "./happenings.mjs";
import * as offer from "./offer.mjs";

const say = (text) => ({ content: [{ type: "text", text }] });
const codec = createRequestStateCodec({ key: randomBytes(32) });
/** Goes into the options of the server. */
export const requestState = { verify: codec.verify };

const form = (message, requestedSchema) => inputRequired.elicit({ message, requestedSchema });

/** A handler of one round: it asks, and makes its result of the answers. */
function oneRound(inputRequests, resultOf) {
  return async (ctx) => {
    const keys = Object.keys(inputRequests);
    const answers = keys.map((key) => inputResponse(ctx.mcpReq.inputResponses, key));
    if (answers.some(({ kind }) => kind === "missing")) return inputRequired({ inputRequests });
    return say(resultOf(...answers));
  };
}

/** A handler of two rounds: the second asks by what the first was answered, which travels in the state. */
function twoRounds(first, second, kept, resultOf) {
  return async (ctx) => {
    const state = ctx.mcpReq.requestState();
    const answer = inputResponse(ctx.mcpReq.inputResponses, "answer");
    if (state !== undefined) return say(resultOf(state, answer));
    if (answer.kind === "missing") return inputRequired({ inputRequests: { answer: first } });
    const next = kept(answer);
    return inputRequired({ inputRequests: { answer: second(next) }, requestState: await codec.mint(next) });
  };
}

export function offerQuestions(mcp) {
  const name = form("Your name?", offer.NAME_FORM);
  const model = inputRequired.createMessage(offer.SAMPLE);
  mcp.registerTool("ask_form", {}, oneRound({ form: form("Book", offer.FORM) }, offer.answerOf));
  mcp.registerTool(
    "ask_page",
    {},
    oneRound({ page: inputRequired.elicitUrl({ message: "Choose", url: offer.PAGE }) }, offer.answerOf),
  );
  mcp.registerTool(
    "ask_twice",
    {},
    twoRounds(
      name,
      (answer) => form(`${answer.name}, how many seats?`, offer.SEATS_FORM),
      ({ content }) => content,
      (state, { content }) => `${content.seats} for ${state.name}`,
    ),
  );
  mcp.registerTool(
    "ask_together",
    {},
    oneRound(
      { name, model, roots: inputRequired.listRoots() },
      (first, { result }, { roots }) => `${first.content.name}, ${offer.textOf(result)}, ${roots.length}`,
    ),
  );
  mcp.registerTool(
    "ask_model",
    {},
    oneRound({ model }, ({ result }) => `${result.model}: ${offer.textOf(result)}`),
  );
  mcp.registerTool(
    "ask_model_with_tools",
    {},
    twoRounds(
      inputRequired.createMessage(offer.SAMPLE_WITH_TOOLS),
      (use) => inputRequired.createMessage(offer.withToolResult(use)),
      ({ result }) => ({ content: result.content }),
      (_, { result }) => offer.textOf(result),
    ),
  );
  mcp.registerTool(
    "ask_roots",
    {},
    oneRound({ roots: inputRequired.listRoots() }, ({ roots }) => offer.rootsOf(roots)),
  );
  mcp.server.setNotificationHandler("notifications/roots/list_changed", () => tell("roots changed"));
}
