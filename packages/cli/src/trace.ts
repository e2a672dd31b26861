/** What happened in a turn, kept to be looked at: the model's steps, the calls with all they were given and gave. */

import type { HostEvent } from "@patchbay/host";
import { duration } from "./output.ts";
import { visible, visibleJson, visibleName } from "./visible.ts";

/** Of one result; the rest is counted. */
const MAX_SHOWN = 2_000;
const MAX_EVENTS = 1_000;

export class Trace {
  readonly #events: HostEvent[] = [];
  #left = 0;

  take(event: HostEvent): void {
    if (event.type === "text" || event.type === "tool_progress") return;
    if (this.#events.length < MAX_EVENTS) this.#events.push(event);
    else this.#left++;
  }

  /** Lines for a reader. Empty where nothing has happened yet. */
  lines(): string[] {
    const lines = this.#events.flatMap((event) => told(event));
    return this.#left === 0 ? lines : [...lines, `(and ${this.#left} more)`];
  }
}

function told(event: HostEvent): string[] {
  switch (event.type) {
    case "model_end": {
      const { usage } = event;
      const tokens = usage === undefined ? "" : `, ${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
      return [`step ${event.step}: ${event.model}, ${duration(event.milliseconds)}${tokens}`];
    }
    case "tool_start":
      return [
        `→ ${visibleName(event.server)}: ${visibleName(event.tool)}`,
        indented(visibleJson(event.arguments, 2)),
      ];
    case "tool_end":
      return [
        `${event.isError ? "✗" : "✓"} ${visibleName(event.server)}: ${visibleName(event.tool)}, ${duration(event.milliseconds)}`,
        indented(shortened(visible(event.text))),
      ];
    case "approval": {
      const { request, answer, by } = event;
      const what = request.kind === "tool" ? `: ${visibleName(request.tool)}` : "";
      return [`asked about ${visibleName(request.server)}${what}: ${answer}, said by ${by}`];
    }
    case "question":
      return [`${visibleName(event.server)} asked: ${event.kind}`];
    case "sampling":
      return [`${visibleName(event.server)} had ${event.model} write, ${duration(event.milliseconds)}`];
    case "answer":
      return [`answered after ${duration(event.milliseconds)}`];
    default:
      return [];
  }
}

function shortened(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  return `${text.slice(0, MAX_SHOWN)}…\n(${text.length - MAX_SHOWN} characters more)`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
