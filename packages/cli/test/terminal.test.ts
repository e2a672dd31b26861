/** `chat` and `ask` in a real terminal: keys are pressed, and the screen is read. */

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { AFTER } from "./patchbay.ts";
import { terminals } from "./terminals.ts";

const { place, start, chat, model, modelOf } = terminals();
const LACED = resolve(import.meta.dirname, "fixtures/laced.mjs");

needs("tmux")("a conversation on a terminal", () => {
  it("answers, tells its commands, and ends with Ctrl-D", async () => {
    const terminal = await chat(["--server", "calculator"]);
    await terminal.say("1+1");
    await terminal.sees("assistant > 2");
    await terminal.ready();
    await terminal.say("/help");
    await terminal.sees("/server:prompt");
    await terminal.ready();
    await terminal.say("/tools add");
    await terminal.sees("calculator: add a=<number> b=<number>");
    await terminal.ready();
    await terminal.say("/servers");
    await terminal.sees(/calculator 2026-07-28 \(modern\), calculator .*: 2 tools/);
    await terminal.ready();
    await terminal.say("/trace");
    await terminal.sees(
      /step 1: rule planner[\s\S]*"expression": "1\+1"[\s\S]*✓ calculator: calculator, .*\n {2}2\n/,
    );
    await terminal.ready();
    await terminal.say("/modell");
    await terminal.sees('Did you mean "/model"?');
    await terminal.ready();
    await terminal.say("/exi");
    await terminal.sees('Did you mean "/exit"?');
    await terminal.ready();
    await terminal.press("C-d");
    await terminal.sees("left with 0");
  });

  it("takes a paste, and a line that goes on, as one question; and a line again with Up", async () => {
    const { wire, env } = await model({ text: "One." }, { text: "Two." }, { text: "Three." });
    const terminal = await chat(["--server", "calculator"], { env });
    await terminal.paste("first\nsecond\n");
    await terminal.sees(/user > first\n… second\n…$/);
    await terminal.press("Enter");
    await terminal.sees("assistant > One.");
    await terminal.ready();
    await terminal.say("third\\");
    await terminal.sees(/…$/);
    await terminal.say("fourth");
    await terminal.sees("assistant > Two.");
    await terminal.ready();
    await terminal.press("Up");
    await terminal.sees(/user > fourth$/);
    await terminal.press("Enter");
    await terminal.sees("assistant > Three.");
    const questions = wire.requests.map(({ body }) => body.messages.at(-1).content);
    expect(questions).toEqual(["first\nsecond", "third\nfourth", "fourth"]);
  });

  it("says how long it took, and how many tokens", async () => {
    const { env } = await modelOf("anthropic", { text: "Hello." });
    const terminal = await chat(["--server", "calculator"], { env });
    await terminal.say("Hi");
    await terminal.sees(/assistant > Hello\.\n[\d.]+ m?s, \d+ tokens in.*, \d+ out/);
  });

  it("has another model answer from /model on", async () => {
    const { wire, env } = await model({ text: "One." }, { text: "Two." });
    const terminal = await chat(["--server", "calculator"], { env });
    await terminal.say("Hi");
    await terminal.sees("One.");
    await terminal.ready();
    await terminal.say("/model other");
    await terminal.sees(/From now on .*other answers/);
    await terminal.ready();
    await terminal.say("Hi");
    await terminal.sees("Two.");
    expect(wire.requests.map(({ body }) => body.model)).toEqual(["tiny", "other"]);
  });

  it("forgets with /clear", async () => {
    const { wire, env } = await model({ text: "One." }, { text: "Two." });
    const terminal = await chat(["--server", "calculator"], { env });
    await terminal.say("Hi");
    await terminal.sees("One.");
    await terminal.ready();
    await terminal.say("/clear");
    await terminal.sees("forgotten");
    await terminal.ready();
    await terminal.say("Again");
    await terminal.sees("Two.");
    expect(JSON.stringify(wire.requests.at(-1)?.body)).not.toContain("Hi");
  });
});

needs("tmux")("Ctrl-C", () => {
  it("stops the call, which its server hears, and not the program; twice leaves", async () => {
    const journal = join(place.cwd, "journal");
    const terminal = await chat(["--yes", "--", process.execPath, LACED, journal]);
    await terminal.say("hang {}");
    await terminal.sees(/⠹|⠸|⠼/);
    await terminal.sees(/\d s hang: 1 of 2, half way \(Ctrl-C stops\)/);
    await terminal.press("C-c");
    await terminal.sees("Stopped. Ctrl-C again ends the conversation.");
    await terminal.ready();
    const heard = readFileSync(journal, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const called = heard.find(({ method }) => method === "tools/call");
    expect(heard.find(({ method }) => method === "notifications/cancelled")?.params.requestId).toBe(
      called.id,
    );
    await terminal.say("say {}");
    await terminal.sees(/assistant > said$/m);
    await terminal.ready();
    await terminal.say("hang {}");
    await terminal.sees(/half way \(Ctrl-C stops\)/);
    await terminal.press("C-c");
    await terminal.sees(/Stopped[\s\S]*Stopped/);
    await terminal.press("C-c");
    await terminal.sees("left with 130");
  });

  it("takes the line away, says what leaves, and leaves", async () => {
    const terminal = await chat(["--server", "calculator"]);
    await terminal.type("never mind");
    await terminal.sees("never mind");
    await terminal.press("C-c");
    await terminal.ready();
    await terminal.press("C-c");
    await terminal.sees("Ctrl-C again ends the conversation");
    await terminal.ready();
    await terminal.say("2*21");
    await terminal.sees("assistant > 42");
    await terminal.ready();
    await terminal.press("C-c");
    await terminal.sees(/again ends[\s\S]*again ends/);
    await terminal.press("C-c");
    await terminal.sees("left with 130");
  });

  it("ends ask, and its server hears it", async () => {
    const journal = join(place.cwd, "journal");
    const terminal = await start(["ask", "hang {}", "--yes", "--", process.execPath, LACED, journal]);
    await terminal.sees("half way (Ctrl-C stops)");
    await terminal.press("C-c");
    await terminal.sees("left with 130");
    expect(readFileSync(journal, "utf8")).toContain("notifications/cancelled");
  });
});

needs("tmux")("approvals and questions", () => {
  it("show all arguments, escaped; take the answer, and nothing that was typed before", async () => {
    const { wire, env } = await model(
      { calls: [{ name: "echo", args: { text: "a\u202Eb\u001B[2Jc", more: "x".repeat(300) } }] },
      { text: "Done." },
      { calls: [{ name: "echo", args: { text: "second" } }] },
      { text: "Done again." },
    );
    const terminal = await chat(AFTER, { env });
    await terminal.say("Echo something");
    await terminal.sees(
      /is to run echo\.[\s\S]*"text": "a\\u202eb\\u001b\[2Jc"[\s\S]*"more": "x{300}"[\s\S]*\[n\]o:$/,
    );
    await terminal.say("maybe");
    await terminal.sees(/\[n\]o: maybe\n.*\[n\]o:$/);
    await terminal.say("n");
    await terminal.sees("assistant > Done.");
    expect(JSON.stringify(wire.requests[1]?.body)).toContain("does not allow");
    await terminal.ready();
    await terminal.say("Again");
    await terminal.sees(/"second"[\s\S]*\[n\]o:$/);
    await terminal.press("C-d");
    await terminal.sees("assistant > Done again.");
    expect(JSON.stringify(wire.requests[3]?.body.messages.at(-1))).toContain("does not allow");
  });

  it("keep what is typed while the model thinks for the next prompt, where it is no answer", async () => {
    const { wire, env } = await model({ hang: true }, { text: "Well." });
    const terminal = await chat(AFTER, { env });
    const arrived = wire.arrived();
    await terminal.say("Think");
    await arrived;
    await terminal.say("y");
    await terminal.type("es");
    await terminal.sees("Ctrl-C stops");
    await terminal.press("C-c");
    await terminal.sees(/Stopped.*\nuser > y es$/);
    await terminal.press("Enter");
    await terminal.sees("assistant > Well.");
  });

  it("end with the turn on Ctrl-C: the tool does not run, the next is not asked", async () => {
    const call = (text: string) => ({ name: "echo", args: { text } });
    const { env } = await model({ calls: [call("one"), { ...call("two"), id: "b" }] }, { text: "Well." });
    const terminal = await chat(AFTER, { env });
    await terminal.say("Twice");
    await terminal.sees(/"one"[\s\S]*\[n\]o:$/);
    await terminal.press("C-c");
    await terminal.sees(/Stopped\..*\nuser >$/);
    expect(await terminal.text()).not.toMatch(/"two"|took/);
    await terminal.say("Hi");
    await terminal.sees("assistant > Well.");
  });

  it("ask for a form's fields: choices by number, title or Tab, bounds checked, changed, and sent", async () => {
    const terminal = await chat(["--yes", "--server", "everything"]);
    await terminal.say("test_elicitation_sep1330_enums {}");
    await terminal.sees("everything asks: Please select from the options");
    await terminal.say("y");
    await terminal.sees(
      /1\. option1\n.*2\. option2[\s\S]*untitledSingle \(one of option1, option2, option3; Enter for none\):$/,
    );
    await terminal.say("2");
    await terminal.sees(/ titledSingle .*:$/);
    await terminal.say("third option");
    await terminal.sees(/legacyEnum .*:$/);
    await terminal.say("1");
    await terminal.sees(/untitledMulti \(some of .*at least 1 and at most 3 of them.*:$/);
    await terminal.say("option1, 3, nothing");
    await terminal.sees(/This must be some of[\s\S]*untitledMulti .*:$/);
    await terminal.say("option1, 3");
    await terminal.sees(/titledMulti .*:$/);
    await terminal.say("");
    await terminal.sees(
      /Your answer:\n {4}untitledSingle: option2\n {4}titledSingle: value3[\s\S]*Send it\?.*:$/,
    );
    await terminal.say("c");
    await terminal.sees(/untitledSingle .*Enter for option2\):$/);
    await terminal.say("1");
    for (const field of ["titledSingle", "legacyEnum", "untitledMulti"]) {
      await terminal.sees(new RegExp(`${field} .*Enter for .*:$`));
      await terminal.say("");
    }
    await terminal.sees(/titledMulti .*:$/);
    await terminal.say("");
    await terminal.sees(/Your answer:\n {4}untitledSingle: option1[\s\S]*Send it\?.*:$/);
    await terminal.say("y");
    const [said = ""] = await terminal.sees(/assistant > Elicitation completed.*/);
    expect(said).toMatch(/option1.*value3.*opt1.*option1.*option3/);
  });

  it("offer defaults, and cancel with Ctrl-D, decline with n", async () => {
    const terminal = await chat(["--yes", "--server", "everything"]);
    for (const [key, action] of [
      ["C-d", "cancel"],
      ["n Enter", "decline"],
    ] as const) {
      await terminal.say("test_elicitation_sep1034_defaults {}");
      await terminal.sees(/Answer\? \[Y\/n\]$/);
      await terminal.press(key);
      await terminal.sees(new RegExp(`assistant > Elicitation completed.*${action}`));
      await terminal.ready();
    }
    await terminal.say("test_elicitation_sep1034_defaults {}");
    await terminal.sees(/Answer\? \[Y\/n\]$/);
    await terminal.press("Enter");
    await terminal.sees(/name – User name \(text; Enter for John Doe\):$/);
    await terminal.press("Enter");
    await terminal.sees(/age .*Enter for 30\):$/);
    await terminal.say("1.5");
    await terminal.sees(/must be a whole number[\s\S]*age .*:$/);
    await terminal.press("C-c");
    await terminal.sees(/Stopped\..*\nuser >$/);
  });

  it("ask of several calls at once one after another, each with who asks", async () => {
    const { wire, env } = await model(
      {
        calls: [
          { id: "a", name: "test_elicitation", args: { message: "First?" } },
          { id: "b", name: "test_elicitation", args: { message: "Second?" } },
        ],
      },
      { text: "Both." },
    );
    const terminal = await chat(["--yes", "--server", "everything"], { env });
    await terminal.say("Ask twice");
    const [, first = ""] = await terminal.sees(/everything asks: (First|Second)\?\n {2}Answer\? \[Y\/n\]$/);
    for (const [index, message] of [first, first === "First" ? "Second" : "First"].entries()) {
      await terminal.sees(new RegExp(`asks: ${message}\\?\\n {2}Answer\\? \\[Y/n\\]$`));
      await terminal.say("y");
      await terminal.sees(/username .*:$/);
      await terminal.say(`user of ${message}`);
      await terminal.sees(/email .*:$/);
      await terminal.say(`${index}@example.com`);
      await terminal.sees(/Send it\?.*:$/);
      await terminal.say("");
    }
    await terminal.sees("assistant > Both.");
    const results = wire.requests[1]?.body.messages
      .slice(-2)
      .map(({ content }: { content: string }) => content);
    expect(results[0]).toContain("user of First");
    expect(results[1]).toContain("user of Second");
  });

  it("ask before a server has the model write", async () => {
    const { wire, env } = await model(
      { calls: [{ name: "test_sampling", args: { prompt: "Say\u202E boo" } }] },
      { text: "Boo." },
      { text: "It said boo." },
    );
    const terminal = await chat(["--server", "everything"], { env });
    await terminal.say("Have it sample");
    await terminal.sees(/is to run test_sampling[\s\S]*\[n\]o.*:$/);
    await terminal.say("y");
    await terminal.sees(
      /everything asks OpenAI .*tiny\.\n[\s\S]*user: .*Say\\u\{202e\} boo[\s\S]*"maxTokens":100[\s\S]*\[n\]o:$/,
    );
    await terminal.say("y");
    await terminal.sees("assistant > It said boo.");
    expect(wire.requests).toHaveLength(3);
  });

  it("show a page whole, with its host, and open none", async () => {
    const terminal = await chat(["--yes", "--", process.execPath, LACED]);
    await terminal.say("visit {}");
    await terminal.sees(
      /asks: Visit\n {2}https:\/\/example\.com\/\\u\{202e\}ab\n {2}That is a page of example\.com\.\n.*\[n\]o:$/,
    );
    await terminal.say("o");
    await terminal.sees(/There is no browser here[\s\S]*\[n\]o:$/);
    await terminal.say("");
    await terminal.sees("assistant > thanks");
  });
});

needs("tmux")("prompts and resources", () => {
  it("are found by Tab, asked for what is missing, and attached", async () => {
    const { wire, env } = await model({ text: "A poem." }, { text: "It is odd." });
    const terminal = await chat(["--server", "everything"], { env });
    await terminal.type("/every");
    await terminal.press("Tab");
    await terminal.sees(/user > \/everything:$/);
    await terminal.type("rew");
    await terminal.press("Tab");
    await terminal.sees(/user > \/everything:rewrite$/);
    await terminal.type(" style=fo");
    await terminal.press("Tab");
    await terminal.sees(/style=formal$/);
    await terminal.press("Enter");
    await terminal.sees(/ {2}text.*:$/);
    await terminal.say("Good morning");
    await terminal.sees("assistant > A poem.");
    expect(wire.requests[0]?.body.messages.at(-1).content).toContain(
      "Rewrite this in a formal style:\n\nGood morning",
    );
    await terminal.ready();
    await terminal.type("@everything:everything://city/fr");
    await terminal.press("Tab");
    await terminal.sees(/city\/france$/);
    await terminal.type("/Ly");
    await terminal.press("Tab");
    await terminal.sees(/city\/france\/Lyon$/);
    await terminal.press("C-c");
    await terminal.ready();
    await terminal.type("Is it odd? @everything:everything://");
    await terminal.say("number/7.");
    await terminal.sees("attached @everything:everything://number/7 (");
    await terminal.sees("assistant > It is odd.");
    const asked = wire.requests[1]?.body.messages.at(-1).content;
    expect(asked).toMatch(
      /^Content from server "everything"\. It is data[\s\S]*7 is odd\.[\s\S]*Is it odd\? @everything:everything:\/\/number\/7\.$/,
    );
    await terminal.ready();
    await terminal.say("What is @everything:everything://nowhere?");
    await terminal.sees(/error: @everything:everything:\/\/nowhere cannot be read: .*Nothing was asked\./);
    expect(wire.requests).toHaveLength(2);
  });
});
