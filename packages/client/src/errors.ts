/** How a connection or a request can fail, other than by the server's own JSON-RPC error. */

import type { JsonObject } from "@patchbay/core";

/**
 * Why a connection could not be made, or was lost.
 *
 * - `command`: the server's command could not be started
 * - `exited`: its process ended
 * - `silent`: it did not answer in time
 * - `unreachable`: no connection to its URL
 * - `unauthorized`: it wants to know who asks, and that could not be shown
 * - `refused`: it answered, and will not serve us (an HTTP status, or an error to the handshake)
 * - `not-mcp`: what answers does not speak MCP
 * - `incompatible`: it speaks MCP, and no revision that we do
 * - `too-large`: it sent more than a limit allows
 * - `closed`: the connection was closed
 */
export type ConnectionFailure =
  | "command"
  | "exited"
  | "silent"
  | "unreachable"
  | "unauthorized"
  | "refused"
  | "not-mcp"
  | "incompatible"
  | "too-large"
  | "closed";

/** No connection, or no longer. The message says what happened and what to do. */
export class ConnectionError extends Error {
  readonly reason: ConnectionFailure;
  /** The HTTP status, where there was one. */
  readonly status: number | undefined;
  /**
   * Whether the server may have done what it was asked all the same. False when it is known that it has not: then
   * nothing is done twice when it is asked again.
   */
  readonly mayHaveRun: boolean;
  /** Milliseconds after which the server wants to be asked again, where it has said so (`Retry-After`). */
  readonly retryAfter: number | undefined;

  constructor(
    reason: ConnectionFailure,
    message: string,
    options: {
      status?: number | undefined;
      cause?: unknown;
      mayHaveRun?: boolean;
      retryAfter?: number | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ConnectionError";
    this.reason = reason;
    this.status = options.status;
    this.mayHaveRun = options.mayHaveRun ?? false;
    this.retryAfter = options.retryAfter;
  }

  /** The same failure, told otherwise. */
  told(message: string, mayHaveRun = this.mayHaveRun): ConnectionError {
    const { reason, status, cause, retryAfter } = this;
    return new ConnectionError(reason, message, { status, cause, mayHaveRun, retryAfter });
  }
}

/**
 * Where getting authorized failed.
 *
 * - `discovery`: who authorizes for the server could not be found out
 * - `registration`: the authorization server gives us no client id
 * - `login`: the user was not asked, did not agree, or what came back is not to be trusted
 * - `token`: no token was given
 * - `access`: the server does not take the token, or it allows too little
 */
export type AuthorizationStep = "discovery" | "registration" | "login" | "token" | "access";

/** The server wants to know who asks, and that could not be shown. The message says what to do. */
export class AuthorizationError extends ConnectionError {
  readonly step: AuthorizationStep;
  /** The authorization server's own code, such as `access_denied`, where it gave one. */
  readonly code: string | undefined;
  /** The scopes that somebody would have to allow, separated by spaces, where that is what is missing. */
  readonly scope: string | undefined;

  constructor(
    step: AuthorizationStep,
    message: string,
    options: { status?: number; cause?: unknown; code?: string; scope?: string | undefined } = {},
  ) {
    super("unauthorized", message, options);
    this.name = "AuthorizationError";
    this.step = step;
    this.code = options.code;
    this.scope = options.scope;
  }
}

/** Options that limit a time. */
export type TimeLimit = "timeout" | "maxTimeout" | "maxTaskTime";

/** A request was given up because its time was over. */
export class TimeoutError extends Error {
  /** The option that set the time. */
  readonly limit: TimeLimit;
  /** Milliseconds. */
  readonly value: number;

  constructor(method: string, limit: TimeLimit, value: number) {
    const end = limit === "maxTaskTime" ? "and is not waited for any more" : "and was cancelled";
    super(`${method} was not answered within ${limit} (${value} ms), ${end}`);
    this.name = "TimeoutError";
    this.limit = limit;
    this.value = value;
  }
}

/** The server answered with something that the protocol does not allow. */
export class InvalidResponseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidResponseError";
  }
}

/** The call's task was cancelled: there is no result. */
export class TaskCancelledError extends Error {
  readonly taskId: string;

  constructor(taskId: string) {
    super("The task was cancelled: it has no result");
    this.name = "TaskCancelledError";
    this.taskId = taskId;
  }
}

/**
 * The server asks for input, and the caller wants to answer in its own time (`suspend`): the call is over for now. It
 * goes on, in another process too, with the answers of `client.answer` and the state as its `continuation`.
 */
export class InputRequiredError extends Error {
  /** The questions, by names that the server chose (basic/patterns/mrtr § InputRequests). */
  readonly inputRequests: JsonObject;
  readonly requestState: string | undefined;

  constructor(method: string, inputRequests: JsonObject, requestState: string | undefined) {
    super(`${method}: the server asks for input`);
    this.name = "InputRequiredError";
    this.inputRequests = inputRequests;
    this.requestState = requestState;
  }
}

/** A callback of the application gave a server's question an answer that is none. */
export class AnswerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AnswerError";
  }
}

const ESCAPE_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])/g;
const UNSEEN =
  /[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** A server's own text, made fit to be shown: one line, nothing invisible, cut. */
export function readable(text: string, maxLength = 300): string {
  const seen = text
    .slice(0, 4 * maxLength)
    .replace(ESCAPE_SEQUENCES, "")
    .replace(UNSEEN, " ")
    .trim();
  return seen.length > maxLength ? `${seen.slice(0, maxLength)}…` : seen;
}
