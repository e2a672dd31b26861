/** The client is asked: forms, pages, its model and its roots; pushed in the legacy era, in rounds in the modern one. */

import type { CreateMessageParams, ElicitParams, ElicitResult } from "@patchbay/core";
import { expect, test } from "vitest";
import * as offer from "../servers/offer.mjs";
import type { Circumstances, Connected } from "./body.ts";

export function questions(
  { client: name, server, transport, modern }: Circumstances,
  connected: () => Connected,
): void {
  /** Calls a tool, and gives what its client was asked on the way. */
  async function call(
    name: string,
    answer: (params: ElicitParams) => ElicitResult = () => ({ action: "cancel" }),
  ) {
    const { client, answers } = connected();
    const asked: ElicitParams[] = [];
    answers.elicit = (params) => {
      asked.push(params);
      return answer(params);
    };
    const { content, isError } = await client.callTool(name);
    expect({ content, isError }).toMatchObject({ content: [{ type: "text" }] });
    expect(isError ?? false).toBe(false);
    return { asked, text: (content[0] as { text: string }).text };
  }

  test("asks the user with a form, and fills in the defaults", async () => {
    const { asked, text } = await call("ask_form", () => ({
      action: "accept",
      content: { name: "Ada", seats: 3 },
    }));
    expect(asked).toMatchObject([{ message: "Book", requestedSchema: offer.FORM }]);
    expect(JSON.parse(text)).toEqual({
      action: "accept",
      content: { name: "Ada", seats: 3, row: "back", aisle: false },
    });
  });

  test.each(["decline", "cancel"] as const)("hears that the user chose to %s", async (action) => {
    expect(JSON.parse((await call("ask_form", () => ({ action }))).text)).toEqual({ action });
  });

  test.each(["accept", "decline", "cancel"] as const)("asks the user to visit a page: %s", async (action) => {
    const { asked, text } = await call("ask_page", () => ({ action }));
    expect(asked).toMatchObject([{ mode: "url", message: "Choose", url: offer.PAGE }]);
    // It has an id in 2025-11-25 alone.
    expect("elicitationId" in (asked[0] as ElicitParams)).toBe(!modern);
    expect(JSON.parse(text)).toMatchObject({ action });
  });

  test("asks again by what it was answered", async () => {
    const { asked, text } = await call("ask_twice", ({ message }) => ({
      action: "accept",
      content: message === "Your name?" ? { name: "Ada" } : { seats: 4 },
    }));
    expect(asked.map(({ message }) => message)).toEqual(["Your name?", "Ada, how many seats?"]);
    expect(text).toBe("4 for Ada");
  });

  test("asks several things at once", async () => {
    const { answers } = connected();
    answers.sample = () => sampled({ type: "text", text: "sunny" });
    answers.roots = [{ uri: "file:///a" }, { uri: "file:///b" }];
    const { text } = await call("ask_together", () => ({ action: "accept", content: { name: "Ada" } }));
    expect(text).toBe("Ada, sunny, 2");
  });

  test("asks the client's model", async () => {
    const { answers } = connected();
    const asked: CreateMessageParams[] = [];
    answers.sample = (params) => {
      asked.push(params);
      return sampled({ type: "text", text: "sunny" });
    };
    expect((await call("ask_model")).text).toBe("model-1: sunny");
    expect(asked).toMatchObject([offer.SAMPLE]);
  });

  test("asks the client's model with tools, and again with what a tool gave", async () => {
    const { answers } = connected();
    const asked: CreateMessageParams[] = [];
    answers.sample = (params) => {
      asked.push(params);
      return asked.length === 1
        ? sampled({ type: "tool_use", id: "use-1", name: "weather", input: { city: "Bern" } }, "toolUse")
        : sampled({ type: "text", text: "It is sunny" });
    };
    expect((await call("ask_model_with_tools")).text).toBe("It is sunny");
    expect(asked).toMatchObject([
      offer.SAMPLE_WITH_TOOLS,
      {
        messages: [
          { role: "user" },
          { role: "assistant", content: [{ type: "tool_use", id: "use-1" }] },
          { role: "user", content: [{ toolUseId: "use-1", content: [{ text: "Sunny in Bern" }] }] },
        ],
      },
    ]);
  });

  test("asks for the roots, and again when they changed", async () => {
    const { client, answers } = connected();
    answers.roots = [{ uri: "file:///seats", name: "Seats" }];
    expect(JSON.parse((await call("ask_roots")).text)).toEqual(answers.roots);
    const roots = [{ uri: "file:///seats", name: "Seats" }, { uri: "file:///stage" }];
    await client.changeRoots(roots);
    // Patchbay's server asks for them each time, and need not be told.
    if (server !== "patchbay" && !modern) await client.callTool("stopped", { key: "roots changed" });
    expect(JSON.parse((await call("ask_roots")).text)).toEqual(roots);
  });

  // Tasks as 2025-11-25 has them; SDK v2 has none, and 2026-07-28 has others.
  test.runIf(!modern && server !== "sdk-v2" && name !== "SDK v2, legacy")("asks in a task", async () => {
    const { client, answers } = connected();
    answers.elicit = () => ({ action: "accept", content: { name: "Ada" } });
    const called = await client.callTask?.("rehearse");
    expect(called?.told[0]).toBe("taskCreated");
    expect(called?.result.content).toEqual([
      {
        type: "text",
        text: JSON.stringify({
          action: "accept",
          content: { name: "Ada", seats: 2, row: "back", aisle: false },
        }),
      },
    ]);
  });

  // Over HTTP, for over stdio a server is needed for each client.
  test.runIf(transport !== "stdio")("cannot be asked by who has nobody to answer", async () => {
    const mute = await connected().connectMute();
    const call = mute.callTool("ask_form");
    if (modern) await expect(call).rejects.toMatchObject({ code: -32021 });
    // The legacy revisions have no code for it; the SDK servers tell it as a result.
    else if (server === "patchbay") await expect(call).rejects.toMatchObject({ code: -32600 });
    else expect((await call).isError).toBe(true);
    await mute.close();
  });
}

function sampled(content: object, stopReason = "endTurn") {
  return { role: "assistant", model: "model-1", stopReason, content } as never;
}
