/** What a server asks is asked on the terminal, and what is typed becomes its answer. */

import { PassThrough } from "node:stream";
import { connect } from "@patchbay/client";
import type { ElicitParams, ElicitResult } from "@patchbay/core";
import { createEverything } from "@patchbay/servers/everything";
import { expect, test } from "vitest";
import { askUser } from "../src/questions.ts";

/** Answers each prompt with the next line; `undefined` closes the input, as Ctrl-D does. */
function terminal(...lines: (string | undefined)[]) {
  const input = new PassThrough();
  const output = new PassThrough().setEncoding("utf8");
  let shown = "";
  output.on("data", (text: string) => {
    shown += text;
    if (!/(: |\] )$/.test(text) || lines.length === 0) return;
    const line = lines.shift();
    if (line === undefined) input.end();
    else input.write(`${line}\n`);
  });
  return { terminal: { input, output }, shown: () => shown };
}

const FORM: ElicitParams = {
  message: "Your \u001b[31mtrip\u202e",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", description: "Full name" },
      age: { type: "integer" },
      window: { type: "boolean", default: true },
      meal: {
        type: "string",
        oneOf: [
          { const: "v", title: "Vegetarian" },
          { const: "m", title: "Meat" },
        ],
      },
      days: { type: "array", items: { type: "string", enum: ["mon", "tue"] } },
      note: { type: "string" },
    },
    required: ["name", "age", "meal"],
  },
};

const ask = (params: ElicitParams, at: ReturnType<typeof terminal>) =>
  askUser("trips", params, new AbortController().signal, at);

test("what is no answer to whether one agrees is asked again", async () => {
  const at = terminal("Main St", "yes please", "n");
  expect(await ask(FORM, at)).toEqual({ action: "decline" });
  expect(at.shown().match(/Answer\?/g)).toHaveLength(3);
});

test("a form is filled in field by field, and wrong input asked again", async () => {
  const at = terminal("y", "", "Ada", "old", "1.5", "36", "", "x", "v", "mon, tue", "", "y");
  expect(await ask(FORM, at)).toEqual({
    action: "accept",
    content: { name: "Ada", age: 36, window: true, meal: "v", days: ["mon", "tue"] },
  } satisfies ElicitResult);
  expect(at.shown()).toContain("trips asks: Your trip");
  expect(at.shown()).toContain("name – Full name (text): ");
  expect(at.shown()).toContain("This is needed.");
  expect(at.shown()).toContain("This must be a whole number.");
  expect(at.shown()).toContain("window (yes or no; Enter for yes): ");
  expect(at.shown()).toContain("This must be one of v, m.");
});

test("n declines, a closed input cancels, and so does an interrupt", async () => {
  expect(await ask(FORM, terminal("n"))).toEqual({ action: "decline" });
  expect(await ask(FORM, terminal("y", "Ada", undefined))).toEqual({ action: "cancel" });
  const interrupted = new AbortController();
  const pending = askUser("trips", FORM, interrupted.signal, terminal());
  interrupted.abort();
  expect(await pending).toEqual({ action: "cancel" });
});

test("who types ahead is heard", async () => {
  const input = new PassThrough();
  const output = new PassThrough().resume();
  const pending = askUser("trips", FORM, new AbortController().signal, { terminal: { input, output } });
  input.write("y\nAda\n36\n\nm\n\n\ny\n");
  expect(await pending).toEqual({
    action: "accept",
    content: { name: "Ada", age: 36, window: true, meal: "m" },
  });
});

test("a page is shown whole, and is the user's to open", async () => {
  const page: ElicitParams = { mode: "url", message: "Sign in", url: "https://example.com/in?a=b" };
  const at = terminal("");
  expect(await ask(page, at)).toEqual({ action: "accept" });
  expect(at.shown()).toContain("https://example.com/in?a=b");
  expect(await ask(page, terminal("no"))).toEqual({ action: "decline" });
});

test("a server's tool gets what was typed", async () => {
  const at = terminal("y", "ada", "ada@example.com", "y");
  const client = await connect(createEverything(), {
    onElicit: (params, { signal }) => askUser("everything", params, signal, at),
  });
  const { content } = await client.callTool("test_elicitation", { message: "Who?" });
  expect(JSON.stringify(content)).toContain("ada");
  await client.close();
});
