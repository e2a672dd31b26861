/** Shows how a question is answered while it is, and keeps the steps for `--json`. */

import type { JsonObject } from "@patchbay/core";
import type { AnswerEvent, ApprovalRequest, HostEvent, ToolEndEvent } from "@patchbay/host";
import { duration, type Output } from "./output.ts";
import { visible, visibleLine, visibleName, visibleNames } from "./visible.ts";

/** One tool call, as `--json` tells it. */
export interface Step {
  server: string;
  tool: string;
  arguments: JsonObject;
  milliseconds: number;
  isError: boolean;
}

const MAX_ARGUMENTS = 300;
const MAX_FAILURE = 500;

export class Steps {
  readonly #output: Output;
  /** Where somebody watches, an answer appears as it is said. */
  readonly #streams: boolean;
  readonly #speaker: string;
  readonly #warned = new Set<string>();
  readonly #started = new Map<string, JsonObject>();
  #taken: Step[] = [];
  #model: string | undefined;
  #said = "";
  #denied = 0;
  /** Of the last answer; empty where there is nothing to say. */
  #figures = "";

  /**
   * @param speaker what stands before each thing that is said
   * @param model the model that has been named already
   */
  constructor(output: Output, { speaker = "", model }: { speaker?: string; model?: string } = {}) {
    this.#output = output;
    this.#speaker = speaker;
    this.#model = model;
    this.#streams = process.stdout.isTTY === true && !output.json;
  }

  /** The tool calls since the last question. */
  get taken(): Step[] {
    return this.#taken;
  }

  /** How much was denied since the last question because nobody was there to be asked. */
  get denied(): number {
    return this.#denied;
  }

  /** Call it before each question. */
  begin(): void {
    this.endLine();
    this.#taken = [];
    this.#denied = 0;
    this.#started.clear();
  }

  readonly onEvent = (event: HostEvent): void => {
    const output = this.#output;
    switch (event.type) {
      case "model_start":
        if (this.#model !== event.model) output.note(`model: ${event.model}`);
        else if (process.stderr.isTTY) output.progress(`${event.model} …`);
        this.#model = event.model;
        this.#said = "";
        break;
      case "text":
        if (!this.#streams) break;
        output.piece(this.#said === "" ? this.#speaker + visible(event.text) : visible(event.text));
        this.#said += event.text;
        break;
      case "tool_start":
        this.endLine();
        this.#started.set(event.id, event.arguments);
        output.note(
          `→ ${visibleName(event.server)}: ${visibleName(event.tool)} ${shortened(JSON.stringify(event.arguments), MAX_ARGUMENTS)}`,
        );
        break;
      case "tool_progress": {
        const far = event.total === undefined ? `${event.progress}` : `${event.progress} of ${event.total}`;
        output.progress(
          `  ${visibleName(event.tool)}: ${far}${event.message === undefined ? "" : `, ${event.message}`}`,
        );
        break;
      }
      case "tool_end":
        this.#end(event);
        break;
      case "server_unavailable":
        this.#warnOnce(`${visibleName(event.server)} is left out: ${shortened(event.reason, MAX_FAILURE)}`);
        break;
      case "tool_set_aside":
        this.#warnOnce(
          `the tool ${visibleName(event.tool)} of ${visibleName(event.server)} is left out: ${shortened(event.reason, MAX_FAILURE)}`,
        );
        break;
      case "approval":
        if (event.by === "nobody") this.#deny(event.request);
        break;
      case "tools_changed":
        output.note(`the tools have changed: ${event.added.length} came, ${event.removed.length} went`);
        break;
      case "server_restarted":
        output.note(`${visibleName(event.server)} is back: ${shortened(event.reason, MAX_FAILURE)}`);
        break;
      case "trimmed":
        output.note(
          `the conversation is long: left out ${event.turns} turns and ${event.results} results of it`,
        );
        break;
      case "step_limit":
        output.note(`${event.limit} steps are used up: the model is asked to conclude`);
        break;
      case "answer":
        this.#figures = figures(event);
        break;
    }
  };

  /** Prints the answer, unless it stands there already. */
  answer(text: string): void {
    const said = this.#said;
    this.endLine();
    if (said.trim() !== text.trim()) this.#output.styled(this.#speaker + visible(text));
    if (this.#figures !== "") this.#output.note(this.#figures);
  }

  #end({ id, server, tool, milliseconds, isError, text }: ToolEndEvent): void {
    this.#taken.push({ server, tool, arguments: this.#started.get(id) ?? {}, milliseconds, isError });
    const took = duration(milliseconds);
    const name = `${visibleName(server)}: ${visibleName(tool)}`;
    if (isError) this.#output.note(`✗ ${name} failed after ${took}: ${shortened(text, MAX_FAILURE)}`);
    else this.#output.note(`✓ ${name} took ${took}`);
  }

  #deny(request: ApprovalRequest): void {
    const server = visibleName(request.server);
    if (request.kind === "tools") {
      const tools = visibleNames(request.changes.map(({ tool }) => tool));
      this.#warnOnce(
        `${server}: ${tools}: changed since approved, and left out. To see how, run this in a terminal.`,
      );
      return;
    }
    this.#denied++;
    const what = request.kind === "tool" ? `${server}: ${visibleName(request.tool)}` : server;
    this.#output.warn(
      `denied, as nobody is here to be asked: ${what}. Run this in a terminal, or with --yes.`,
    );
  }

  /** Ends what is being said, if anything is. */
  endLine(): void {
    if (this.#said !== "") this.#output.piece("\n");
    this.#said = "";
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#output.warn(text);
  }
}

/** Time and tokens, where a language model answered. */
function figures({ milliseconds, usage }: AnswerEvent): string {
  if (usage === undefined) return "";
  const cached = usage.cachedTokens === undefined ? "" : ` (${usage.cachedTokens} cached)`;
  return `${duration(milliseconds)}, ${usage.inputTokens} tokens in${cached}, ${usage.outputTokens} out`;
}

function shortened(text: string, length: number): string {
  const line = visibleLine(text);
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
