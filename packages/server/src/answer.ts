/** A request's answer as text, whatever became of it. */

import {
  InvalidArgumentsError,
  isObject,
  ProtocolError,
  type RequestId,
  type Result,
  UnavailableError,
  UrlElicitationRequiredError,
  type Wire,
  writeError,
  writeResult,
} from "@patchbay/core";
import { InsufficientScopeError } from "./auth/access.ts";
import type { Reply } from "./dispatch.ts";
import type { Call } from "./exchange.ts";
import { failure } from "./features/tool-result.ts";
import { ReadyPage } from "./listing.ts";
import { outcomeOf } from "./observer.ts";
import { RateLimitError } from "./rates.ts";
import type { McpServer } from "./server.ts";

/** The text of a response, and the code of its error if it is one. */
export interface Answer {
  text: string;
  /** The same in pieces, where most of it was written before: they need not be copied together to be sent. */
  pieces?: readonly (string | Uint8Array)[] | undefined;
  errorCode: number | undefined;
  /** Where it may be asked again: later, or with more scopes. */
  refusal?: Refusal;
}

/** Limits of what is there at once: a request beyond may be sent again when something has ended. */
const FULL: unknown[] = ["maxSubscriptions", "maxSubscriptionsPerPrincipal", "maxTasks", "maxTasksPerOwner"];

/** What was asked too often (429), cannot be answered now (503), or needs more scopes (403): the status says so too. */
export type Refusal = { status: 429 | 503; afterMs: number } | { status: 403; scopes: readonly string[] };

/**
 * Runs the work and hands its answer over, once: what the work gave, or what it was suspended with. Never throws.
 * A callback and not a promise, because one would have to be wrapped around every call for the few that suspend.
 */
export function answer(
  server: McpServer,
  call: Call,
  id: RequestId,
  method: string,
  work: () => Reply | Promise<Reply>,
  done: (answer: Answer) => void,
): void {
  const { wire } = call.caller;
  const observed = server.observer?.request?.(method, wire.revision);
  let required = false;
  // What goes wrong in there is not the work's: a second answer would not mend it.
  const handOver = (answered: Answer): void => {
    try {
      done(answered);
    } catch (thrown) {
      server.report(thrown, method);
    }
  };
  const fail = (thrown: unknown): void => {
    if (thrown instanceof InvalidArgumentsError && wire.wrongArgumentsAreResults) {
      return succeed(failure(thrown.message));
    }
    if (thrown instanceof UrlElicitationRequiredError && !required) {
      required = true;
      return void requireVisits(call, thrown).then(succeed, fail);
    }
    if (!(thrown instanceof ProtocolError)) server.report(thrown, method);
    observed?.(call.cancelled ? "cancelled" : "error");
    handOver(errorAnswer(wire, id, thrown));
  };
  const succeed = (reply: Reply): void => {
    let written: Answer;
    try {
      written = writeReply(server, call, id, reply);
    } catch (thrown) {
      return fail(thrown);
    }
    observed?.(call.cancelled ? "cancelled" : outcomeOf(reply));
    handOver(written);
  };
  try {
    const reply = work();
    if (!(reply instanceof Promise)) return succeed(reply);
    call.onSuspended = (result) => result.then(succeed, fail);
    reply.then(
      (value) => call.suspended || succeed(value),
      (thrown) => call.suspended || fail(thrown),
    );
  } catch (thrown) {
    fail(thrown);
  }
}

async function requireVisits({ dialogue }: Call, needed: UrlElicitationRequiredError): Promise<Result> {
  if (dialogue.require === undefined) throw needed;
  return dialogue.require(needed);
}

/** The answer to a request that cannot be carried out. */
export function errorAnswer(wire: Wire, id: RequestId | undefined, thrown: unknown): Answer {
  const error = wire.error(thrown);
  const answered = { text: writeError(id, error), errorCode: error.code };
  if (thrown instanceof RateLimitError) {
    return { ...answered, refusal: { status: 429, afterMs: thrown.retryAfter } };
  }
  if (thrown instanceof InsufficientScopeError) {
    return { ...answered, refusal: { status: 403, scopes: thrown.scopes } };
  }
  const full = isObject(error.data) && FULL.includes(error.data.limit);
  return full || thrown instanceof UnavailableError
    ? { ...answered, refusal: { status: 503, afterMs: 1000 } }
    : answered;
}

function writeReply(server: McpServer, call: Call, id: RequestId, reply: Reply): Answer {
  const { wire } = call.caller;
  if (!(reply instanceof ReadyPage)) {
    const text = writeResult(id, wire.writeResult(reply, server.serverMeta));
    return { text, pieces: undefined, errorCode: undefined };
  }
  const { text, bytes } = reply.writtenFor(wire, server.cacheFor(call), server.serverMeta);
  const around = writeResult(id, "");
  const pieces = bytes && [around.slice(0, -1), bytes, around.slice(-1)];
  return { text: writeResult(id, text), pieces, errorCode: undefined };
}
