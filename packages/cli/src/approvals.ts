/** Asks whether something may happen: who wants it, why it is asked, and all of what would be sent. */

import type { ApprovalAnswer, ApprovalRequest, OnApproval } from "@patchbay/host";
import type { Context } from "./context.ts";
import { canAsk, dialog, type Terminal } from "./dialog.ts";
import { visible, visibleJson, visibleLine } from "./visible.ts";

/** Who says what may happen: the user on a terminal, `--yes`, or nobody, and then it may not. */
export function approver({ yes }: { yes?: boolean }, { output }: Context): OnApproval | undefined {
  if (yes === true) return agreeTo;
  if (!canAsk() || output.json) return undefined;
  return (request, { signal }) => askApproval(request, signal);
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

/** All of a request, free of what moves the cursor, hides, or reverses. */
export function described(request: ApprovalRequest): string {
  const server = visibleLine(request.server);
  const why = indented(visible(request.why));
  switch (request.kind) {
    case "tool": {
      const what = `${server} is to run ${visibleLine(request.tool)}.`;
      return `${what}\n${why}\n${indented(visibleJson(request.arguments, 2))}`;
    }
    case "server": {
      const { command, args = [], url, env = [] } = request.identity;
      const start = [command, ...args].map((part) => visibleLine(part ?? "")).join(" ");
      const how = url === undefined ? `starts ${start}` : `is at ${visibleLine(url)}`;
      const given = env.length === 0 ? "" : `\n  It is given ${env.map(visibleLine).join(", ")}.`;
      const diff = request.diff === "" ? "" : `\n${indented(visible(request.diff))}`;
      return `The server ${server} ${how}\n${why}${given}${diff}`;
    }
    case "tools": {
      const changes = request.changes.map(
        ({ tool, change, diff }) =>
          `  ${visibleLine(tool)} is ${change}:\n${indented(indented(visible(diff)))}`,
      );
      return `The tools of ${server} have changed.\n${why}\n${changes.join("\n")}`;
    }
    case "sampling":
      return `${server} asks ${visibleLine(request.model)}.\n${why}\n${indented(visibleJson(request.params, 2))}`;
  }
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
