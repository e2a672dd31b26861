/** Pages that the user of a 2025-11-25 server is asked to visit, and calls that wait for that (client/elicitation). */

import { ErrorCode, isObject, type JsonObject, ProtocolError } from "@patchbay/core";
import type { Conversation } from "./conversation.ts";
import type { RequestOptions } from "./options.ts";
import { backoff, pause } from "./pause.ts";
import { answerAll } from "./rounds.ts";

/** Pages that were opened and not completed; of those opened first the completion is not heard any more. */
const MAX_PAGES = 1_000;
const MAX_ID_LENGTH = 1_024;
/** Milliseconds before a call is sent again though nobody said that its pages are completed; doubled each time. */
const FIRST_PAUSE = 5_000;
const MAX_PAUSE = 60_000;

/** What is known of pages, by their ids. */
export class Pages {
  /** Each with who waits for it. */
  readonly #open = new Map<string, (() => void)[]>();

  open(id: unknown): void {
    if (typeof id !== "string" || id.length > MAX_ID_LENGTH || this.#open.has(id)) return;
    this.#open.set(id, []);
    if (this.#open.size > MAX_PAGES) this.forget(this.#open.keys().next().value);
  }

  /** The user will not visit it. */
  forget(id: unknown): void {
    this.#open.delete(id as string);
  }

  /** The user is done with it; false for one that is not open. */
  complete(id: unknown): boolean {
    const waiting = this.#open.get(id as string);
    this.#open.delete(id as string);
    for (const go of waiting ?? []) go();
    return waiting !== undefined;
  }

  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  /** Resolves when the user is done with it; at once for one that is not open. */
  completed(id: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#open.get(id);
      if (waiting === undefined) resolve();
      else waiting.push(resolve);
    });
  }
}

/**
 * Does what a server would not do before its user has visited some pages: the user is asked to, and the request is sent
 * again once the server tells that they are completed, or now and then where it does not (§ URL Elicitation Required).
 *
 * @param refusal what the request was answered with
 * @param ask sends the request
 * @throws ProtocolError the refusal, when the user declines, when it is none that names pages, or after `maxTimeout`
 * @throws whatever `onElicit` throws
 */
export async function afterPages(
  conversation: Conversation,
  method: string,
  refusal: unknown,
  options: RequestOptions | undefined,
  ask: () => Promise<JsonObject>,
): Promise<JsonObject> {
  const { answers, settings } = conversation;
  const { pages } = answers;
  const end = performance.now() + (options?.maxTimeout ?? settings.maxTimeout);
  const agreed = new Set<string>();
  let error = refusal;
  for (let tries = 0; ; tries++) {
    const elicitations = elicitationsOf(error);
    if (elicitations === undefined || answers.capabilities("legacy").elicitation?.url === undefined)
      throw error;
    const fresh = elicitations.filter(({ elicitationId }) => !agreed.has(elicitationId));
    // Who names other pages each time asks for ever.
    if (agreed.size + fresh.length > settings.maxQuestions) throw error;
    const questions = fresh.map((params) => [params.elicitationId, { method: "elicitation/create", params }]);
    const given = await answerAll(conversation, method, Object.fromEntries(questions), options?.signal);
    if (!Object.values(given).every((answer) => isObject(answer) && answer.action === "accept")) throw error;
    for (const { elicitationId } of fresh) agreed.add(elicitationId);
    const left = end - performance.now();
    if (left <= 0) throw error;
    const open = elicitations.map(({ elicitationId }) => elicitationId).filter((id) => pages.isOpen(id));
    // A server that names again what was completed is given time, too.
    if (open.length > 0 || fresh.length === 0) {
      const longest = Math.min(backoff(tries, FIRST_PAUSE, MAX_PAUSE), left);
      await completedWithin(conversation, open, longest, options?.signal);
    }
    try {
      return await ask();
    } catch (again) {
      error = again;
    }
  }
}

/** Waits for pages; without any, for the whole time. It ends with the connection, too. */
async function completedWithin(
  { answers, over }: Conversation,
  ids: readonly string[],
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const enough = new AbortController();
  if (ids.length > 0)
    void Promise.all(ids.map((id) => answers.pages.completed(id))).then(() => enough.abort());
  const signals = [over, enough.signal, ...(signal === undefined ? [] : [signal])];
  await pause(ms, AbortSignal.any(signals)).catch(() => {});
  signal?.throwIfAborted();
}

/** The pages that a refusal names; nothing when it is another, or names none. */
function elicitationsOf(error: unknown): (JsonObject & { elicitationId: string })[] | undefined {
  if (!(error instanceof ProtocolError) || error.code !== ErrorCode.UrlElicitationRequired) return undefined;
  const list = isObject(error.data) ? error.data.elicitations : undefined;
  if (!Array.isArray(list) || list.length === 0 || !list.every(isPage)) return undefined;
  return list;
}

function isPage(value: unknown): value is JsonObject & { elicitationId: string } {
  return isObject(value) && value.mode === "url" && typeof value.elicitationId === "string";
}
