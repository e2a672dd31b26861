/** Asks whether something may happen: who wants it, why it is asked, and all of what would be sent. */

import type { SamplingContent } from "@patchbay/core";
import type { ApprovalAnswer, ApprovalRequest, OnApproval } from "@patchbay/host";
import type { Activity } from "./activity.ts";
import type { Context } from "./context.ts";
import { canAsk, dialog, type Terminal } from "./dialog.ts";
import { spelled, visible, visibleJson, visibleLine } from "./visible.ts";

/** Who says what may happen: the user on a terminal, `--yes`, or nobody, and then it may not. */
export function approver(
  { yes }: { yes?: boolean },
  { output }: Pick<Context, "output">,
  activity: Activity,
): OnApproval | undefined {
  if (yes === true) return agreeTo;
  if (!canAsk() || output.json) return undefined;
  return (request, { signal }) => activity.whileAsking(() => askApproval(request, signal));
}

/** `--yes`: what is new is approved; what is no longer what was approved is not. */
function agreeTo(request: ApprovalRequest): ApprovalAnswer {
  if (request.kind === "server") return request.before === undefined ? "session" : "deny";
  return request.kind === "tools" ? "deny" : "once";
}

const KEYS: Readonly<Record<ApprovalAnswer, { key: string; shown: string }>> = {
  once: { key: "y", shown: "[y]es, this time" },
  session: { key: "s", shown: "for this [s]ession" },
  always: { key: "a", shown: "[a]lways" },
  deny: { key: "n", shown: "[n]o" },
  never: { key: "v", shown: "ne[v]er" },
};

export function askApproval(
  request: ApprovalRequest,
  signal: AbortSignal,
  terminal?: Terminal,
): Promise<ApprovalAnswer> {
  return dialog<ApprovalAnswer>(
    signal,
    "deny",
    async (ask, output) => {
      output.write(`\n${described(request)}\n`);
      const choices = request.choices.map((choice) => KEYS[choice].shown).join(", ");
      for (;;) {
        const typed = (await ask(`  ${choices}: `)).trim().toLowerCase();
        const chosen = request.choices.find((choice) => typed === KEYS[choice].key || typed === choice);
        if (chosen !== undefined) return chosen;
      }
    },
    terminal,
  );
}

/** All of a request: nothing in it moves the cursor, hides, or reverses, and what cannot be seen is spelled. */
export function described(request: ApprovalRequest): string {
  const server = oneLine(request.server);
  const why = indented(visible(request.why));
  switch (request.kind) {
    case "tool": {
      const what = `${server} is to run ${oneLine(request.tool)}.`;
      return `${what}\n${why}\n${indented(visibleJson(request.arguments, 2))}`;
    }
    case "server": {
      const { command, args = [], url, env = [] } = request.identity;
      const start = [command, ...args].map((part) => oneLine(part ?? "")).join(" ");
      const how = url === undefined ? `starts ${start}` : `is at ${oneLine(url)}`;
      const given = env.length === 0 ? "" : `\n  It is given ${env.map(oneLine).join(", ")}.`;
      const diff = request.diff === "" ? "" : `\n${indented(spelled(request.diff))}`;
      return `The server ${server} ${how}\n${why}${given}${diff}`;
    }
    case "tools": {
      const changes = request.changes.map(
        ({ tool, change, diff }) => `  ${oneLine(tool)} is ${change}:\n${indented(indented(spelled(diff)))}`,
      );
      return `The tools of ${server} have changed.\n${why}\n${changes.join("\n")}`;
    }
    case "sampling": {
      const { messages, systemPrompt, tools = [], ...settings } = request.params;
      return [
        `${server} asks ${oneLine(request.model)}.`,
        why,
        ...(systemPrompt === undefined ? [] : [said("system", systemPrompt)]),
        ...messages.flatMap(({ role, content }) =>
          (Array.isArray(content) ? content : [content]).map((block) => said(role, shownBlock(block))),
        ),
        ...(tools.length === 0
          ? []
          : [`  with its tools ${tools.map(({ name }) => oneLine(name)).join(", ")}`]),
        `  ${visibleJson(settings)}`,
      ].join("\n");
    }
  }
}

/** A name that nobody can make look like another. */
function oneLine(name: string): string {
  return visibleLine(spelled(name.replace(/\s+/g, " ")));
}

function said(role: string, text: string): string {
  return indented(`${oneLine(role)}: ${spelled(text).replaceAll("\n", "\n  ")}`);
}

/** What a person can judge by reading it, whole; of an image its kind and size. */
function shownBlock(block: SamplingContent): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type}: ${block.mimeType}, ${Buffer.byteLength(block.data, "base64")} bytes]`;
    default:
      return JSON.stringify(block);
  }
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
