/** Middleware: what stands around each request of a client. */

import { isObject, type JsonObject, type Revision } from "@patchbay/core";
import { membersOf, type Question, withoutReserved } from "./question.ts";

/** A request on its way to the server. */
export interface SentRequest {
  readonly method: string;
  /** A copy, without `_meta`: what is sent does not change with it. */
  readonly params: JsonObject;
  /** What goes along in `_meta`, besides what the protocol puts there: add to it before `next()`. */
  readonly meta: JsonObject;
  /** As far as it is agreed already. */
  readonly revision: Revision;
  /** The server, by its command or URL. */
  readonly server: string;
  /** Aborts when the caller cancels. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Stands before and after each request, those that connect included, and each round of one that is answered by
 * questions. It may look, wait, refuse (by throwing), add to `_meta`, send it again, or give another result than
 * `next()` does.
 */
export type Middleware = (
  request: SentRequest,
  next: () => Promise<JsonObject>,
) => JsonObject | Promise<JsonObject>;

/** Carries a request through the middleware, the first outermost, to where it is sent. */
export function runThrough(
  chain: readonly Middleware[],
  question: Question,
  about: Pick<SentRequest, "revision" | "server" | "signal">,
  send: (question: Question) => Promise<JsonObject>,
): Promise<JsonObject> {
  const meta = objectOf(question.meta);
  let params: JsonObject | undefined;
  const request: SentRequest = {
    ...about,
    method: question.method,
    meta,
    get params() {
      params ??= objectOf(question.members);
      return params;
    },
  };
  const from = async (index: number): Promise<JsonObject> => {
    const middleware = chain[index];
    if (middleware !== undefined) return middleware(request, () => from(index + 1));
    const text = membersOf(withoutReserved(meta));
    const { meta: _, ...rest } = question;
    return send(text === "" ? rest : { ...rest, meta: text });
  };
  return from(0);
}

/** The object that these members, as JSON text, are of. */
function objectOf(members = ""): JsonObject {
  const value: unknown = JSON.parse(`{${members}}`);
  return isObject(value) ? value : {};
}
