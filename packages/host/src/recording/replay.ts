/** Answers a recorded question again, by the real loop and real clients, without model, network or keys. */

import { connect } from "@patchbay/client";
import { canonicalJson, type ElicitResult, isObject, type JsonObject, type JsonValue } from "@patchbay/core";
import type { ApprovalAnswer, ApprovalRequest } from "../consent/approvals.ts";
import type { HostEvent } from "../events.ts";
import { createHost } from "../host.ts";
import type { Answer } from "../options.ts";
import type { Recording } from "./format.ts";
import { replayServer } from "./replay-server.ts";
import { steady } from "./steady.ts";

export interface ReplayOptions {
  signal?: AbortSignal;
  /** Called with each step, in order. */
  onEvent?: (event: HostEvent) => void;
}

export interface Replayed {
  /** Missing where the turn failed, as the recorded one may have. */
  answer: Answer | undefined;
  failure: string | undefined;
  /** Where it went another way than the recorded turn; empty when it did not. */
  differences: string[];
}

/** @throws Error when the recording has no question */
export async function replay(recording: Recording, options: ReplayOptions = {}): Promise<Replayed> {
  const { head, entries } = recording;
  const question = entries.find((entry) => entry.type === "question");
  if (question === undefined) throw new Error("the recording has no question");
  const differences: string[] = [];
  const onDifference = (difference: string) => void differences.push(difference);
  const events: HostEvent[] = [];
  const { replayModel } = await import("./replay-model.ts");
  const host = createHost({
    model: replayModel(recording, onDifference),
    rules: head.rules ?? {},
    onApproval: approvalsOf(recording, onDifference),
    onElicit: answersOf(recording, onDifference),
    roots: [],
  });
  try {
    for (const server of head.servers) {
      const target = replayServer(recording, server, onDifference);
      host.add(server, await connect(target, host.connectOptions(server)));
    }
    const onEvent = (event: HostEvent) => {
      events.push(event);
      options.onEvent?.(event);
    };
    const { signal } = options;
    const answered = host.ask(question.messages ?? question.text, { onEvent, ...(signal && { signal }) });
    const outcome = await answered.then(
      (answer) => ({ answer, failure: undefined }),
      (thrown: Error) => {
        signal?.throwIfAborted();
        return { answer: undefined, failure: thrown.message };
      },
    );
    compare(recording, events, outcome.failure, onDifference);
    return { ...outcome, differences };
  } finally {
    await host.close();
  }
}

function approvalsOf({ entries }: Recording, onDifference: (difference: string) => void) {
  const recorded = entries.flatMap((entry) =>
    entry.type === "event" && entry.event.type === "approval" ? [entry.event] : [],
  );
  return (request: ApprovalRequest): ApprovalAnswer => {
    const index = recorded.findIndex((each) => aboutOf(each.request) === aboutOf(request));
    if (index !== -1) return (recorded.splice(index, 1)[0] as (typeof recorded)[0]).answer;
    // What was approved in a session before was not asked in this one.
    if (request.kind === "tool" && wasCalled(entries, request.server, request.tool)) return "once";
    if (request.kind === "tools" || request.kind === "server") return "once";
    onDifference(`an approval is asked for that was not in the recording: ${aboutOf(request)}`);
    return "deny";
  };
}

function aboutOf(request: ApprovalRequest): string {
  const { kind, server } = request;
  return kind === "tool" ? `${kind} ${server} ${request.tool} ${request.id}` : `${kind} ${server}`;
}

function wasCalled(entries: Recording["entries"], server: string, tool: string): boolean {
  return entries.some(
    (entry) =>
      entry.type === "message" &&
      entry.server === server &&
      entry.direction === "sent" &&
      entry.message.method === "tools/call" &&
      isObject(entry.message.params) &&
      entry.message.params.name === tool,
  );
}

/** What the user answered, by what was asked: pushed by a legacy server, or carried by a call of a modern one. */
function answersOf({ entries }: Recording, onDifference: (difference: string) => void) {
  const pushed = new Map<unknown, string>();
  const answers = new Map<string, ElicitResult[]>();
  const wanted = new Map<string, string>();
  const keep = (key: string, answer: unknown) =>
    void answers.set(key, [...(answers.get(key) ?? []), answer as ElicitResult]);
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { server, direction, message } = entry;
    const { id, method, params, result } = message;
    if (direction === "received") {
      if (method === "elicitation/create") pushed.set(`${server} ${String(id)}`, questionOf(params));
      for (const [name, request] of Object.entries(inputsOf(result)))
        wanted.set(`${server} ${name}`, questionOf((request as JsonObject).params));
    } else {
      const key = pushed.get(`${server} ${String(id)}`);
      if (key !== undefined && method === undefined && result !== undefined) {
        pushed.delete(`${server} ${String(id)}`);
        keep(key, result);
      }
      const responses = isObject(params) && isObject(params.inputResponses) ? params.inputResponses : {};
      for (const [name, answer] of Object.entries(responses)) {
        const asked = wanted.get(`${server} ${name}`);
        if (asked !== undefined) keep(asked, answer);
      }
    }
  }
  return (params: object): ElicitResult => {
    const key = questionOf(params);
    const answer = answers.get(key)?.shift();
    if (answer === undefined) onDifference(`a server asks what it did not ask in the recording: ${key}`);
    return answer ?? { action: "cancel" };
  };
}

function inputsOf(result: unknown): JsonObject {
  return isObject(result) && isObject(result.inputRequests) ? result.inputRequests : {};
}

function questionOf(params: unknown): string {
  return isObject(params)
    ? `${String(params.message)} ${canonicalJson((params.requestedSchema ?? null) as JsonValue)}`
    : "";
}

/** What was shown at the end of each step: that is what a turn is about. */
function compare(
  { entries }: Recording,
  events: readonly HostEvent[],
  failure: string | undefined,
  onDifference: (difference: string) => void,
): void {
  const before = entries.flatMap((entry) => (entry.type === "event" ? outcomeOf(entry.event) : []));
  const now = events.flatMap(outcomeOf);
  for (const each of before) if (!now.includes(each)) onDifference(`missing now: ${each}`);
  for (const each of now) if (!before.includes(each)) onDifference(`new now: ${each}`);
  const failed = entries.find((entry) => entry.type === "failure")?.reason;
  if (failed !== failure)
    onDifference(
      `the turn ${failure === undefined ? "succeeds" : `fails (${failure})`}, and in the recording it ${failed === undefined ? "succeeded" : `failed (${failed})`}`,
    );
}

function outcomeOf(event: HostEvent): string[] {
  if (event.type === "answer") return [`the answer ${JSON.stringify(event.text)}`];
  if (event.type !== "tool_end") return [];
  const how = event.isError ? "failed" : "gave";
  return [`${event.server}/${event.tool} (${event.id}) ${how} ${JSON.stringify(steady(event.text))}`];
}
