/** What stands on a real terminal's screen: nothing that moves or hides, colours where they belong, one line that renews itself. */

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { FIXTURE } from "./patchbay.ts";
import { terminals } from "./terminals.ts";

const { place, start, chat, model } = terminals();
const LACED = resolve(import.meta.dirname, "fixtures/laced.mjs");

needs("tmux")("what servers send", () => {
  it("moves and hides nothing, wherever it is shown", async () => {
    const { env } = await model(
      { text: "I\u001B]0;owned\u0007 s\u202Eay", calls: [{ name: "say", args: { "w\u200B": "\u009B2J" } }] },
      { calls: [{ name: "fail", args: {} }] },
      { calls: [{ name: "ask", args: {} }] },
      { text: "Done\u001B[2J\u{E0041}." },
      { text: "Read." },
      { text: "Greeted." },
    );
    const terminal = await chat(["--verbose", "--server", "calculator", "--", process.execPath, LACED], {
      env,
    });
    await terminal.say("Go");
    await terminal.sees(/is to run say[\s\S]*\[n\]o:$/);
    await terminal.say("y");
    await terminal.sees(/warning: .*say returned \d+ characters that nobody sees/);
    await terminal.sees(/is to run fail[\s\S]*\[n\]o:$/);
    await terminal.say("y");
    await terminal.sees(/it broke[\s\S]*is to run ask[\s\S]*\[n\]o:$/);
    await terminal.say("y");
    await terminal.sees(/Answer\? \[Y\/n\]$/);
    await terminal.say("y");
    await terminal.sees(/Field .*:$/);
    await terminal.press("Tab");
    await terminal.sees(/ y$/);
    await terminal.press("BSpace");
    await terminal.say("1");
    await terminal.sees(/Send it\?.*:$/);
    await terminal.say("y");
    await terminal.sees("assistant > Done.");
    await terminal.ready();
    for (const command of ["/tools", "/servers", "/prompts", "/resources", "/trace", "/x", "/nam"]) {
      await terminal.say(command);
      await terminal.sees(new RegExp(`user > ${command}\\n[\\s\\S]+\\nuser >$`));
    }
    const name = process.execPath;
    await terminal.say(`@${name}:laced://a`);
    await terminal.sees("assistant > Read.");
    await terminal.ready();
    await terminal.say("/greet");
    await terminal.sees(/ {2}who.*:$/);
    await terminal.type("an");
    await terminal.press("Tab");
    await terminal.sees(/ {2}who.*: anton$/);
    await terminal.press("Enter");
    await terminal.sees(/user: greet them[\s\S]*assistant > Greeted\./);
    expect(terminal.bytes).not.toMatch(
      /\u001B\]|\u001B\[2J|[\u0080-\u009F\u202E\u200B\u0008]|[\u{E0000}-\u{E007F}]/u,
    );
  });
});

needs("tmux")("the screen", () => {
  const COLOUR = /\u001B\[\d+m/;

  it("has colours and a line that renews itself, but for NO_COLOR, TERM=dumb and files", async () => {
    const words = ["ask", "1+1", "--server", "calculator"];
    const plain = await start(words, { env: { NO_COLOR: "1" } });
    await plain.sees("left with 0");
    expect(plain.bytes).not.toMatch(COLOUR);
    const dumb = await start(words, { env: { NO_COLOR: "" }, redirect: "2> /dev/null" });
    await dumb.sees("left with 0");
    expect(dumb.bytes).toMatch(/^2\r\nleft with 0/);
    const coloured = await start(words);
    await coloured.sees("left with 0");
    expect(coloured.bytes).toMatch(COLOUR);
  });

  it("keeps its line to one, however narrow, and after a change of width", async () => {
    const terminal = await chat(["--yes", "--", process.execPath, LACED], { columns: 30 });
    await terminal.say("hang {}");
    await terminal.sees(/^. \d s hang: 1 of 2, half/m);
    await terminal.sees(/^. 1 s hang: 1 of 2, half/m);
    expect((await terminal.text()).match(/half/g)).toHaveLength(1);
    await terminal.resize(60);
    await terminal.sees(/half way \(Ctrl-C stops\)$/);
    await terminal.press("C-c");
    await terminal.sees(/Stopped/);
  });
});

needs("tmux")("a folder's own server", () => {
  const configure = (...args: string[]) =>
    writeFileSync(
      join(place.cwd, "mcp.json"),
      JSON.stringify({ mcpServers: { own: { command: process.execPath, args: [FIXTURE, ...args] } } }),
    );

  it("is shown and asked about once, and again when it has changed, with the difference", async () => {
    configure();
    const first = await start(["tools", "own"]);
    await first.sees(
      /mcp\.json: "own" starts .*server\.mjs\nAgree\?\n {2}1\. yes\n {2}2\. no\nagree \(no\):$/,
    );
    await first.say("yes");
    await first.sees("left with 0");
    const second = await start(["ask", "environment: NONE", "--yes"]);
    await second.sees("left with 0");
    expect(await second.text()).not.toContain("Agree?");
    configure("more\u202E");
    const third = await start(["ask", "environment: NONE", "--yes"]);
    await third.sees(
      /It has changed since you agreed to it:[\s\S]*\+ argument: more\\u\{202e\}[\s\S]*agree \(no\):$/,
    );
    await third.press("Enter");
    await third.sees(/error: .*you did not agree to it\.\nleft with 2/);
  });
});
