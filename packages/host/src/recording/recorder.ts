/** Records turns: what the model was sent and replied, what went over each connection, what happened. Secrets stay out. */

import type { OnMessage } from "@patchbay/client";
import { isObject, type JsonObject } from "@patchbay/core";
import type { ApprovalRules } from "../consent/rules.ts";
import type { HostEvent } from "../events.ts";
import type { Model, ModelRequest } from "../models/model.ts";
import { usageOf } from "../models/usage.ts";
import type { Question } from "../question.ts";
import type { RecordingEntry, RecordingHead } from "./format.ts";

export interface RecorderOptions {
  /** Those of the host. */
  rules?: ApprovalRules;
  /** Takes secrets out of a text, whatever it is part of, before it is kept. Tokens with a well-known beginning go anyway. */
  redact?: (text: string) => string;
  /** Bytes of one recording. Default 64 MiB. */
  maxRecordingBytes?: number;
}

/** Where a recording goes, line by line. */
export interface RecordingSink {
  write(line: string): void;
}

export interface Recorder {
  /** Records what goes over a server's connection, from its opening on: the `onMessage` of `connect`. */
  watch(server: string): OnMessage;
  /** The same model, recorded. */
  model(model: Model): Model;
  /** Begins a turn: what happens from now on is its recording. One at a time. */
  begin(question: Question, sink: RecordingSink): RecordedTurn;
}

export interface RecordedTurn {
  /** Takes each event of the turn. */
  event(event: HostEvent): void;
  /**
   * Ends it.
   *
   * @param failure why there was no answer, if there was none
   * @returns why it could not be kept as a whole, if so: a full disk
   */
  end(failure?: Error): Error | undefined;
}

/** What opens a connection, and lists what there is: a turn needs it though it came before. */
const OPENING = /^(server\/discover|initialize|(tools|resources|resources\/templates|prompts)\/list)$/;
/** What looks like a secret of somebody's, wherever it stands. */
const TOKENS = /\b(?:Bearer\s+[\w.~+/-]{8,}=*|sk-[\w-]{16,}|gh[opsu]_\w{20,}|AIza[\w-]{30,})/g;
const HIDDEN = "[hidden]";
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;

interface Passed {
  server: string;
  direction: "sent" | "received";
  text: string;
  when: number;
}

interface Turn {
  startedAt: number;
  sink: RecordingSink;
  bytes: number;
  /** Why nothing more of it is kept. */
  lost?: Error;
}

export function createRecorder({
  rules,
  redact = (text) => text,
  maxRecordingBytes = DEFAULT_MAX_BYTES,
}: RecorderOptions = {}): Recorder {
  const opening = new Map<string, Opening>();
  let model: RecordingHead["model"] = { provider: "rules", name: "", label: "" };
  let turn: Turn | undefined;
  let requests = 0;

  const without = (text: string) => redact(text).replace(TOKENS, HIDDEN);
  const clean = (_key: string, value: unknown) => {
    if (typeof value === "string") return without(value);
    if (!isObject(value) || Object.keys(value).every((key) => without(key) === key)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [without(key), inner]));
  };

  function put(line: object): void {
    if (turn === undefined || turn.lost !== undefined) return;
    const text = `${JSON.stringify(line, clean)}\n`;
    turn.bytes += Buffer.byteLength(text);
    try {
      if (turn.bytes <= maxRecordingBytes) return turn.sink.write(text);
      turn.lost = new Error(`it passed maxRecordingBytes (${maxRecordingBytes})`);
      turn.sink.write(`${JSON.stringify({ at: now(), type: "truncated", limit: maxRecordingBytes })}\n`);
    } catch (thrown) {
      // The turn goes on.
      turn.lost = thrown as Error;
    }
  }

  function now(): number {
    return rounded(performance.now() - (turn?.startedAt ?? 0));
  }

  type Body<Entry> = Entry extends unknown ? Omit<Entry, "at"> : never;
  const add = (entry: Body<RecordingEntry>, at = now()) => put({ at, ...entry });

  function message({ server, direction, text, when }: Passed): void {
    const at = rounded(when - (turn?.startedAt ?? 0));
    const message = JSON.parse(text) as JsonObject;
    add({ type: "message", server, direction, bytes: Buffer.byteLength(text), message }, at);
  }

  return {
    watch(server) {
      const kept = new Opening();
      opening.set(server, kept);
      return ({ direction, text }) => {
        const passed = { server, direction, text, when: performance.now() };
        kept.take(passed);
        if (turn !== undefined) message(passed);
      };
    },

    model(watched) {
      const { provider, name, label } = watched;
      model = { provider, name, label };
      return { ...watched, provider, name, label, reply: (request) => reply(watched, request) };
    },

    begin(question, sink) {
      const own: Turn = { startedAt: performance.now(), sink, bytes: 0 };
      turn = own;
      requests = 0;
      const startedAt = new Date().toISOString();
      const servers = [...opening].flatMap(([server, { isOpen }]) => (isOpen ? [server] : []));
      const head: RecordingHead = { type: "recording", version: 1, startedAt, model, servers };
      put(rules === undefined ? head : { ...head, rules });
      for (const kept of opening.values()) for (const passed of kept.all()) message(passed);
      add({
        type: "question",
        text: writtenIn(question),
        ...(typeof question !== "string" && { messages: question }),
      });
      return {
        event(event) {
          // Each piece of a reply is part of it.
          if (turn === own && event.type !== "text") add({ type: "event", event });
        },
        end(failure) {
          if (turn === own) {
            if (failure !== undefined) add({ type: "failure", reason: failure.message });
            turn = undefined;
          }
          return own.lost;
        },
      };
    },
  };

  async function reply(watched: Model, asked: ModelRequest) {
    const request = ++requests;
    // LangChain takes half a second to load: it is there when a model is asked.
    const { toRecorded, toRecordedReply } = await import("./messages.ts");
    const { system, messages, tools, own, settings } = asked;
    add({
      type: "model_request",
      request,
      system,
      messages: messages.map(toRecorded),
      tools: [...tools, ...own].map(({ name }) => name),
      ...(settings && { settings }),
    });
    const started = performance.now();
    const took = () => rounded(performance.now() - started);
    try {
      const replied = await watched.reply(asked);
      const usage = usageOf(replied.message);
      add({
        type: "model_reply",
        request,
        milliseconds: took(),
        message: toRecordedReply(replied.message),
        ok: replied.ok,
        ...(usage && { usage }),
      });
      return replied;
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      add({ type: "model_failure", request, milliseconds: took(), reason });
      throw thrown;
    }
  }
}

/** What the user wrote of a question. */
function writtenIn(question: Question): string {
  if (typeof question === "string") return question;
  const own = question.filter(({ server }) => server === undefined).flatMap(({ content }) => content);
  return own.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** What opened a connection and was listed last, with its answers. */
class Opening {
  readonly #kept = new Map<string, Passed[]>();
  readonly #waiting = new Map<unknown, string>();

  take(passed: Passed): void {
    // Most of what passes is none of it; that is seen without reading it.
    if (this.#waiting.size === 0 && !/"(server\/discover|initialize|[a-z/]+\/list)"/.test(passed.text))
      return;
    const message: unknown = JSON.parse(passed.text);
    if (!isObject(message)) return;
    if (passed.direction === "sent") {
      const { method, params } = message;
      if (typeof method !== "string" || !OPENING.test(method)) return;
      const key = `${method} ${String((isObject(params) && params.cursor) || "")}`;
      this.#waiting.set(message.id, key);
      this.#kept.delete(key);
      this.#kept.set(key, [passed]);
      return;
    }
    if (message.method !== undefined) return;
    const key = this.#waiting.get(message.id);
    if (key === undefined) return;
    this.#waiting.delete(message.id);
    this.#kept.get(key)?.push(passed);
  }

  /** Whether it was opened, in one way or another. */
  get isOpen(): boolean {
    return ["server/discover ", "initialize "].some((key) => {
      const answer = this.#kept.get(key)?.[1];
      return answer !== undefined && "result" in (JSON.parse(answer.text) as object);
    });
  }

  all(): Passed[] {
    return [...this.#kept.values()].flat();
  }
}

/** Milliseconds, to a hundredth. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
