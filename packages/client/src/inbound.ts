/** Requests of a legacy server that are being answered (2025-11-25, client). */

import {
  ErrorCode,
  type JsonObject,
  limitError,
  ProtocolError,
  type RequestId,
  type RequestMessage,
  type Revision,
  toErrorObject,
  writeError,
  writeResult,
} from "@patchbay/core";
import type { Answers, QuestionContext } from "./answers.ts";
import { AnswerError } from "./errors.ts";

/** What answering needs of the conversation. */
export interface InboundHost {
  readonly answers: Answers;
  /** Requests that may wait for an answer at once. */
  readonly maxQuestions: number;
  readonly revision: () => Revision;
  readonly context: (signal: AbortSignal) => QuestionContext;
  readonly reply: (text: string) => void;
  /**
   * The application is asked: what the server cannot answer until it has an answer itself is given the time.
   *
   * @param requestId the request on whose stream the question came, if on one
   * @returns ends it
   */
  readonly hold: (requestId: number | undefined) => () => void;
  /** Is told of a callback that failed: the server is not told how. */
  readonly onFailure: (error: Error) => void;
}

export class Inbound {
  readonly #host: InboundHost;
  readonly #waiting = new Map<RequestId, AbortController>();

  constructor(host: InboundHost) {
    this.#host = host;
  }

  /** Answers a request; one that the server cancels meanwhile is left unanswered. */
  take({ id, method, params }: RequestMessage, requestId?: number): void {
    const { answers, maxQuestions, context, reply, hold } = this.#host;
    // A stream that was resumed may bring a request again.
    if (this.#waiting.has(id)) return;
    if (this.#waiting.size >= maxQuestions) {
      const what = `more requests wait for an answer than maxQuestions allows (${maxQuestions})`;
      reply(writeError(id, toErrorObject(limitError("maxQuestions", what, maxQuestions))));
      return;
    }
    const controller = new AbortController();
    this.#waiting.set(id, controller);
    const finish = (text: () => string) => {
      if (this.#waiting.get(id) === controller) this.#waiting.delete(id);
      if (!controller.signal.aborted) reply(text());
    };
    Promise.resolve()
      .then(() => answers.prepare(method, params))
      .then((ask) => {
        const { signal } = controller;
        return endingWith(ask(context(signal)), signal, hold(requestId));
      })
      .then((result) => {
        const text = JSON.stringify(spoken(method, result, this.#host.revision()));
        finish(() => writeResult(id, text));
      })
      .catch((error: unknown) => finish(() => writeError(id, this.#errorOf(error))));
  }

  /** The server does not want the answer any more. */
  cancel(id: RequestId, reason: string): void {
    const controller = this.#waiting.get(id);
    this.#waiting.delete(id);
    controller?.abort(new DOMException(reason, "AbortError"));
  }

  /** Nobody is there to be answered. */
  end(why: Error): void {
    for (const controller of this.#waiting.values()) controller.abort(why);
    this.#waiting.clear();
  }

  #errorOf(error: unknown) {
    if (error instanceof ProtocolError) return toErrorObject(error);
    this.#host.onFailure(error instanceof Error ? error : new Error(String(error)));
    // What an AnswerError says is about the answer; what others say may be nobody's business.
    if (error instanceof AnswerError) return { code: ErrorCode.InternalError, message: error.message };
    return toErrorObject(error);
  }
}

/** Ends something with the work, or when nobody wants that any more: a callback may not heed its signal. */
function endingWith<T>(work: Promise<T>, signal: AbortSignal, end: () => void): Promise<T> {
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return work.finally(() => {
    signal.removeEventListener("abort", end);
    if (!signal.aborted) end();
  });
}

/** An answer as a revision has it: several blocks in one sampled message exist since 2025-11-25. */
function spoken(method: string, result: JsonObject, revision: Revision): JsonObject {
  const { content } = result;
  if (method !== "sampling/createMessage" || revision >= "2025-11-25" || !Array.isArray(content))
    return result;
  if (content.length === 1) return { ...result, content: content[0] };
  throw new AnswerError(`sampling/createMessage: a message has one block of content in ${revision}`);
}
