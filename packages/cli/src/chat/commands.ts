/** What begins with a slash in a conversation: commands of ours, and servers' prompts. */

import { nearest } from "@patchbay/core";
import { signature } from "../arguments.ts";
import { usage } from "../failure.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { findPrompt, usePrompt } from "./prompts.ts";
import type { Room, Understood } from "./room.ts";

interface ChatCommand {
  name: string;
  takes: string;
  about: string;
  run(rest: string, room: Room, signal: AbortSignal): Promise<Understood>;
}

export const COMMANDS: readonly ChatCommand[] = [
  { name: "help", takes: "", about: "shows this", run: help },
  {
    name: "tools",
    takes: "[words]",
    about: "lists the tools that the model has, or those with these words",
    run: tools,
  },
  { name: "servers", takes: "", about: "lists the servers: who they are, and what they have", run: servers },
  { name: "prompts", takes: "", about: "lists the prompts that servers have", run: prompts },
  { name: "resources", takes: "[words]", about: "lists the resources that servers have", run: resources },
  {
    name: "trace",
    takes: "",
    about: "shows all of the last turn: steps, arguments, results, times, tokens",
    run: trace,
  },
  {
    name: "model",
    takes: "[name]",
    about: "says which model answers, or takes another of its provider",
    run: model,
  },
  { name: "clear", takes: "", about: "forgets what was said", run: clear },
  {
    name: "exit",
    takes: "",
    about: "ends the conversation; so do quit and Ctrl-D",
    run: async () => "leave",
  },
];

const HELP_BELOW = [
  "/server:prompt key=value …   asks a server's prompt; Tab completes, and what is missing is asked for",
  "@server:uri                  in a question attaches a resource of that server; Tab completes",
  "Ctrl-C stops the turn that runs, and its calls; at an empty prompt, or twice, it ends the conversation.",
  "A line that ends with \\ goes on in the next; one that begins with a space is no command.",
];

/** @throws Failure (usage) for a command that there is not, with the nearest name */
export async function runCommand(line: string, room: Room, signal: AbortSignal): Promise<Understood> {
  const [, word = "", rest = ""] = /^\/(\S*)\s*(.*)$/s.exec(line) ?? [];
  const own = COMMANDS.find(({ name }) => name === word || (name === "exit" && word === "quit"));
  if (own !== undefined) return own.run(rest.trim(), room, signal);
  const prompt = word === "" ? undefined : await findPrompt(word, room, signal);
  if (prompt !== undefined) return usePrompt(prompt, rest, room, signal);
  const names = [...COMMANDS.map(({ name }) => name), ...(await promptNames(room, signal))];
  const near = nearest(word, names);
  throw usage(
    `There is no command "/${visibleName(word)}"; /help lists them. Begin with a space to ask it as it is.`,
    near === undefined ? undefined : `/${near}`,
  );
}

async function help(_: string, { say }: Room): Promise<Understood> {
  const rows = COMMANDS.map(({ name, takes, about }) => [`/${name} ${takes}`, about] as const);
  for (const [left, about] of rows) say(`${left.padEnd(28)} ${about}`);
  for (const line of HELP_BELOW) say(line);
  return "done";
}

async function tools(
  filter: string,
  { agent, context, say }: Room,
  signal: AbortSignal,
): Promise<Understood> {
  const { dim, bold } = context.output.colors;
  const { tools: all, setAside, unavailable } = await agent.host.catalog({ signal });
  const fitting = all.filter(({ server, tool }) => fits(filter, server, tool.name, tool.description));
  for (const { server, tool } of fitting) {
    say(
      `${visibleName(server)}: ${bold(visibleName(tool.name))} ${visibleLine(signature(tool.inputSchema))}`,
    );
    const about = firstLine(tool.description ?? tool.title);
    if (about !== "") say(dim(`  ${about}`));
  }
  if (fitting.length === 0) say(filter === "" ? "There are no tools." : "No tool has these words.");
  for (const { server, tool, reason } of setAside)
    say(dim(`${visibleName(server)}: ${visibleName(tool)} is left out: ${visibleLine(reason)}`));
  for (const { server, reason } of unavailable)
    say(dim(`${visibleName(server)} does not answer: ${visibleLine(reason)}`));
  return "done";
}

async function servers(
  _: string,
  { agent, context, offers, say }: Room,
  signal: AbortSignal,
): Promise<Understood> {
  const { bold, dim } = context.output.colors;
  const { tools: all } = await agent.host.catalog({ signal });
  await Promise.all(
    Array.from(agent.clients, async ([server, { server: about, revision, era }]) => {
      const own = all.filter((each) => each.server === server).length;
      const [ofPrompts, ofResources, ofTemplates] = await Promise.all([
        offers.prompts(server, signal),
        offers.resources(server, signal),
        offers.templates(server, signal),
      ]);
      const counts = [
        [own, "tools"],
        [ofPrompts.length, "prompts"],
        [ofResources.length + ofTemplates.length, "resources"],
      ].filter(([count]) => count !== 0);
      const who = about === undefined ? "" : `, ${visibleName(about.name)} ${visibleName(about.version)}`;
      const has = counts.map(([count, what]) => `${count} ${what}`).join(", ");
      say(`${bold(visibleName(server))} ${dim(`${revision} (${era})${who}: ${has || "it has nothing"}`)}`);
    }),
  );
  return "done";
}

async function prompts(_: string, { context, offers, say }: Room, signal: AbortSignal): Promise<Understood> {
  const { bold, dim } = context.output.colors;
  let count = 0;
  for (const server of offers.servers) {
    for (const { name, title, description, arguments: takes = [] } of await offers.prompts(server, signal)) {
      count++;
      const args = takes.map((each) => `${visibleName(each.name)}=<text>`);
      const shown = takes.map(({ required }, index) => (required ? args[index] : `[${args[index]}]`));
      say(`${bold(`/${visibleName(server)}:${visibleName(name)}`)} ${shown.join(" ")}`);
      const about = firstLine(description ?? title);
      if (about !== "") say(dim(`  ${about}`));
    }
  }
  if (count === 0) say("No server has prompts.");
  return "done";
}

async function resources(
  filter: string,
  { context, offers, say }: Room,
  signal: AbortSignal,
): Promise<Understood> {
  const { bold, dim } = context.output.colors;
  let count = 0;
  for (const server of offers.servers) {
    const [own, templates] = await Promise.all([
      offers.resources(server, signal),
      offers.templates(server, signal),
    ]);
    const all = [
      ...own.map((each) => ({ ...each, at: each.uri })),
      ...templates.map((each) => ({ ...each, at: each.uriTemplate })),
    ];
    for (const { at, name, title } of all.filter((each) =>
      fits(filter, server, each.at, each.title ?? each.name),
    )) {
      count++;
      say(`${bold(`@${visibleName(server)}:${visibleLine(at)}`)} ${dim(visibleLine(title ?? name))}`);
    }
  }
  if (count === 0) say(filter === "" ? "No server has resources." : "No resource has these words.");
  return "done";
}

async function trace(_: string, { steps, say }: Room): Promise<Understood> {
  const lines = steps.trace.lines();
  for (const line of lines) say(line);
  if (lines.length === 0) say("Nothing was asked yet.");
  return "done";
}

async function model(name: string, { agent, say }: Room): Promise<Understood> {
  if (name === "") say(visibleLine(agent.model.label));
  else {
    await agent.useModel(name);
    say(`From now on ${visibleLine(agent.model.label)} answers.`);
  }
  return "done";
}

async function clear(_: string, { conversation, say }: Room): Promise<Understood> {
  await conversation.clear();
  say("What was said is forgotten.");
  return "done";
}

async function promptNames({ offers }: Room, signal: AbortSignal): Promise<string[]> {
  const names = await Promise.all(
    offers.servers.map(async (server) =>
      (await offers.prompts(server, signal)).map(({ name }) => `${server}:${name}`),
    ),
  );
  return names.flat();
}

function fits(filter: string, ...texts: (string | undefined)[]): boolean {
  const all = texts.join(" ").toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function firstLine(text: string | undefined): string {
  return visibleLine((text ?? "").trim().split("\n", 1)[0] ?? "");
}
