/** Shows how a question is answered while it is, and keeps the steps for `--json`. */

import type { JsonObject } from "@patchbay/core";
import type { AnswerEvent, ApprovalRequest, HostEvent, ToolEndEvent } from "@patchbay/host";
import type { Happening } from "./activity.ts";
import { duration, type Output } from "./output.ts";
import { Trace } from "./trace.ts";
import { hiddenIn, visible, visibleJson, visibleLine, visibleName, visibleNames } from "./visible.ts";

/** One tool call, as `--json` tells it. */
export interface Step {
  server: string;
  tool: string;
  arguments: JsonObject;
  milliseconds: number;
  isError: boolean;
}

/** A high surrogate, or a sequence without its end. */
const UNFINISHED =
  /(?:[\uD800-\uDBFF]|\u001B|(?:\u001B\[|\u009B)[\d;?]{0,32}|\u001B\][^\u0007\u001B]{0,256})$/;

const MAX_ARGUMENTS = 300;
const MAX_FAILURE = 500;

export class Steps {
  readonly #output: Output;
  /** Where somebody watches, an answer appears as it is said. */
  readonly #streams: boolean;
  readonly #speaker: string;
  readonly #warned = new Set<string>();
  readonly #started = new Map<string, JsonObject>();
  /** What is happening now, by the id of its call; the model's is empty. */
  readonly #happening = new Map<string, Happening>();
  /** How often more tools than a model is given have been told of. */
  #narrowed = 0;
  #taken: Step[] = [];
  #trace = new Trace();
  #model: string | undefined;
  /** The beginning of what is one thing: the first half of a character, or of an escape sequence. */
  #half = "";
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

  /** All of the last question's turn. */
  get trace(): Trace {
    return this.#trace;
  }

  /** What is happening now: all calls that run, or the model that is asked. */
  readonly happening = (): Happening | undefined => {
    const all = [...this.#happening.values()];
    if (all.length === 0) return undefined;
    return {
      what: all.map(({ what }) => what).join(", "),
      since: Math.min(...all.map(({ since }) => since)),
    };
  };

  /** How much was denied since the last question because nobody was there to be asked. */
  get denied(): number {
    return this.#denied;
  }

  /** Call it before each question. */
  begin(): void {
    this.endLine();
    this.#taken = [];
    this.#denied = 0;
    this.#trace = new Trace();
    this.#figures = "";
    this.#started.clear();
    this.#happening.clear();
  }

  readonly onEvent = (event: HostEvent): void => {
    const output = this.#output;
    this.#trace.take(event);
    switch (event.type) {
      case "model_start":
        this.endLine();
        if (this.#model !== event.model) output.note(`model: ${event.model}`);
        this.#model = event.model;
        this.#begin("", event.model);
        break;
      case "model_end":
        this.#happening.delete("");
        break;
      case "text":
        this.#say(event.text);
        break;
      case "tool_start":
        this.endLine();
        this.#started.set(event.id, event.arguments);
        this.#begin(event.id, `${visibleName(event.server)}: ${visibleName(event.tool)}`);
        output.note(
          `→ ${visibleName(event.server)}: ${visibleName(event.tool)} ${shortened(visibleJson(event.arguments), MAX_ARGUMENTS)}`,
        );
        break;
      case "tool_progress": {
        const far = event.total === undefined ? `${event.progress}` : `${event.progress} of ${event.total}`;
        const said = event.message === undefined ? "" : `, ${shortened(event.message, MAX_FAILURE)}`;
        const what = `${visibleName(event.tool)}: ${far}${said}`;
        const now = this.#happening.get(event.id);
        if (now !== undefined) now.what = what;
        if (!output.redraws) output.progress(`  ${what}`);
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
      case "sampling":
        output.note(
          `${visibleName(event.server)} had ${event.model} write something: ${figures(event) || duration(event.milliseconds)}`,
        );
        break;
      case "tools_narrowed":
        // It is so at each step of each turn.
        if (this.#narrowed++ === 0)
          output.note(
            `${event.total} tools are many: the model is given a search for them, and ${event.offered} of them now. ` +
              `That saves about ${event.totalTokens - event.tokens} tokens.`,
          );
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

  #begin(id: string, what: string): void {
    this.#happening.set(id, { what, since: performance.now() });
  }

  /** What is one thing may come in two pieces. */
  #say(piece: string): void {
    if (!this.#streams) return;
    const text = this.#half + piece;
    this.#half = UNFINISHED.exec(text)?.[0] ?? "";
    const whole = visible(text.slice(0, text.length - this.#half.length));
    this.#output.piece(this.#said === "" ? this.#speaker + whole : whole);
    this.#said += piece;
  }

  /** Prints the answer, unless it stands there already. */
  answer(text: string): void {
    const said = this.#said;
    this.endLine();
    if (said.trim() !== text.trim()) this.#output.styled(this.#speaker + visible(text));
    if (this.#figures !== "") this.#output.note(this.#figures);
  }

  #end({ id, server, tool, milliseconds, isError, text }: ToolEndEvent): void {
    this.#happening.delete(id);
    this.#taken.push({ server, tool, arguments: this.#started.get(id) ?? {}, milliseconds, isError });
    const took = duration(milliseconds);
    const name = `${visibleName(server)}: ${visibleName(tool)}`;
    if (isError) this.#output.note(`✗ ${name} failed after ${took}: ${shortened(text, MAX_FAILURE)}`);
    else this.#output.note(`✓ ${name} took ${took}`);
    const hidden = hiddenIn(text);
    if (hidden > 0)
      this.#output.warn(
        `${name} returned ${hidden} characters that nobody sees; they may hide instructions.`,
      );
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
    if (this.#said !== "" && !this.#said.endsWith("\n")) this.#output.piece("\n");
    this.#said = "";
    this.#half = "";
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#output.warn(text);
  }
}

/** Time and tokens, where a language model answered. */
export function figures({ milliseconds, usage }: Pick<AnswerEvent, "milliseconds" | "usage">): string {
  if (usage === undefined) return "";
  const cached = usage.cachedTokens === undefined ? "" : ` (${usage.cachedTokens} cached)`;
  return `${duration(milliseconds)}, ${usage.inputTokens} tokens in${cached}, ${usage.outputTokens} out`;
}

function shortened(text: string, length: number): string {
  const line = visibleLine(text);
  return line.length > length ? `${line.slice(0, length)}…` : line;
}
