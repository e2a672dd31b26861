/** A request that the server answers with questions: they are answered, and it is sent again (basic/patterns/mrtr). */

import { isObject, type JsonObject, limitError, ProtocolError } from "@patchbay/core";
import type { Ask } from "./answers.ts";
import type { Conversation } from "./conversation.ts";
import { InputRequiredError, InvalidResponseError, readable } from "./errors.ts";
import type { RequestOptions } from "./options.ts";
import { backoff, pause } from "./pause.ts";
import type { Question } from "./question.ts";

/** The only methods that may be answered so (§ Supported Requests). */
export const ROUND_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** Milliseconds before a server that asked nothing twice in a row is tried again; doubled each time. */
const FIRST_PAUSE = 100;
const MAX_PAUSE = 5_000;

/** True when a result is not one yet. */
export function asksForInput(result: JsonObject): boolean {
  return result.resultType === "input_required";
}

/**
 * Goes on with a request until its result is there. Each round has the request's time limits anew; answering has none.
 *
 * @param asked the server's first questions
 * @throws InputRequiredError with questions that are not to be answered here
 * @throws InvalidResponseError for a question that was not declared, and after `maxRounds`
 * @throws whatever a callback throws
 */
export async function completeRounds(
  conversation: Conversation,
  question: Question,
  options: RequestOptions | undefined,
  asked: JsonObject,
): Promise<JsonObject> {
  const { method } = question;
  const { maxRounds } = conversation.settings;
  let result = asked;
  let unasked = 0;
  for (let round = 1; round <= maxRounds; round++) {
    const { inputRequests, requestState } = result;
    let members = question.members;
    if (requestState !== undefined && typeof requestState !== "string")
      throw invalid(method, "its requestState is not a string");
    if (isObject(inputRequests)) {
      if (options?.suspend === true) throw new InputRequiredError(method, inputRequests, requestState);
      unasked = 0;
      const responses = await answerAll(conversation, method, inputRequests, options?.signal);
      members = joined(members, `"inputResponses":${JSON.stringify(responses)}`);
    } else if (requestState === undefined || inputRequests !== undefined) {
      throw invalid(method, "it has neither inputRequests nor a requestState");
    } else {
      // The first time the server just wants to be asked again.
      if (unasked > 0) await pause(backoff(unasked - 1, FIRST_PAUSE, MAX_PAUSE), options?.signal);
      unasked++;
    }
    if (requestState !== undefined)
      members = joined(members, `"requestState":${JSON.stringify(requestState)}`);
    result = await conversation.request({ ...question, members }, options);
    if (!asksForInput(result)) return result;
  }
  const what = `the server asks for input in more rounds than maxRounds allows (${maxRounds})`;
  throw new InvalidResponseError(`${method}: ${what}`);
}

/** Asks all questions of a round at once; when one fails, the others are called off. */
export async function answerAll(
  conversation: Conversation,
  method: string,
  requests: JsonObject,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  const { maxQuestions } = conversation.settings;
  const all = Object.entries(requests);
  if (all.length > maxQuestions) {
    const what = `the server asks more in one round than maxQuestions allows (${maxQuestions})`;
    throw limitError("maxQuestions", `${method}: ${what}`, maxQuestions);
  }
  const asks = await Promise.all(
    all.map(async ([key, request]) => [key, await prepared(conversation, method, key, request)] as const),
  );
  const off = new AbortController();
  const context = conversation.contextFor(
    signal === undefined ? off.signal : AbortSignal.any([signal, off.signal]),
  );
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(context.signal.reason);
    context.signal.addEventListener("abort", onAbort, { once: true });
    if (context.signal.aborted) onAbort();
  });
  try {
    const answers = Promise.all(asks.map(async ([key, ask]) => [key, await ask(context)] as const));
    return Object.fromEntries(await Promise.race([answers, aborted]));
  } catch (error) {
    off.abort(error);
    throw error;
  } finally {
    if (onAbort !== undefined) context.signal.removeEventListener("abort", onAbort);
  }
}

async function prepared(
  conversation: Conversation,
  method: string,
  key: string,
  request: unknown,
): Promise<Ask> {
  const where = `inputRequests[${readable(JSON.stringify(key), 60)}]`;
  const asked = isObject(request) ? request.method : undefined;
  if (typeof asked !== "string" || !isObject(request)) throw invalid(method, `${where} is no request`);
  const { params = {} } = request;
  if (!isObject(params)) throw invalid(method, `${where} has params that are no object`);
  try {
    return await conversation.answers.prepare(asked, params);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw invalid(method, `${where} (${readable(asked, 60)}): ${error.message}`);
  }
}

function joined(members: string, more: string): string {
  return members === "" ? more : `${members},${more}`;
}

function invalid(method: string, what: string): InvalidResponseError {
  return new InvalidResponseError(`${method}: the server's request for input is not valid: ${what}`);
}
