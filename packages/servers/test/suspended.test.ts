/** A call that asks for input, and is gone on with later: by another client, in another process perhaps. */

import { AnswerError, connect, InputRequiredError } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { expect, test } from "vitest";
import { z } from "zod";

function booking() {
  let charged = 0;
  const server = new McpServer({ name: "tickets", version: "1.0.0" });
  server.tool("book", { input: z.object({ seats: z.int() }) }, async ({ seats }, ctx) => {
    await ctx.step("charge", () => ++charged);
    const answer = await ctx.elicit("Name?", z.object({ name: z.string().min(2) }));
    return answer.action === "accept" ? `${seats} for ${answer.content.name}` : "none";
  });
  return { server, charged: () => charged };
}

async function suspended(server: McpServer): Promise<InputRequiredError> {
  const client = await connect(server, { onElicit: () => expect.fail("nobody is asked yet") });
  const error = await client.callTool("book", { seats: 2 }, { suspend: true }).catch((thrown) => thrown);
  await client.close();
  expect(error).toBeInstanceOf(InputRequiredError);
  return error;
}

test("a suspended call goes on where it was, by another client", async () => {
  const { server, charged } = booking();
  const { inputRequests, requestState } = await suspended(server);
  const kept = JSON.parse(JSON.stringify({ inputRequests, requestState }));

  const later = await connect(server, {
    onElicit: ({ message }) => {
      expect(message).toBe("Name?");
      return { action: "accept", content: { name: "Ann" } };
    },
  });
  const inputResponses = await later.answer(kept.inputRequests);
  const continuation = { inputResponses, requestState: kept.requestState };
  const result = await later.callTool("book", { seats: 2 }, { suspend: true, continuation });
  expect(result.content).toEqual([{ type: "text", text: "2 for Ann" }]);
  expect(charged()).toBe(1);
  await later.close();
});

test("answers are checked as all others are", async () => {
  const { inputRequests } = await suspended(booking().server);
  const { server } = booking();
  const later = await connect(server, { onElicit: () => ({ action: "accept", content: { name: "A" } }) });
  await expect(later.answer(inputRequests)).rejects.toThrow(AnswerError);
  const silent = await connect(server);
  await expect(silent.answer(inputRequests)).rejects.toThrow(/elicitation\/create/);
  await Promise.all([later.close(), silent.close()]);
});
