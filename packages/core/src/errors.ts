/** The errors that cross the wire, and their codes. */

import type { JsonValue } from "./json.ts";
import type { ElicitUrlParams } from "./model/elicitation.ts";
import { TASKS_EXTENSION } from "./model/tasks.ts";

/** JSON-RPC and MCP error codes (2026-07-28, basic/index § Error Codes). */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Revisions up to 2025-11-25 only; InvalidParams since. */
  ResourceNotFound: -32002,
  /** 2025-11-25 only: the user has to visit pages first; `data.elicitations` names them. */
  UrlElicitationRequired: -32042,
  HeaderMismatch: -32020,
  MissingRequiredClientCapability: -32021,
  UnsupportedProtocolVersion: -32022,
} as const;

/** What a JSON-RPC error response carries. */
export interface ErrorObject {
  code: number;
  message: string;
  data?: JsonValue;
}

/**
 * An error that is told to the other side as it is: its message, code and data are sent.
 * Throw it from a handler when the request itself was wrong; throw anything else for a failure of the work.
 */
export class ProtocolError extends Error {
  readonly code: number;
  readonly data: JsonValue | undefined;

  constructor(code: number, message: string, data?: JsonValue, options?: ErrorOptions) {
    super(message, options);
    this.name = "ProtocolError";
    this.code = code;
    this.data = data;
  }
}

/** No resource has this URI: −32602, and −32002 up to 2025-11-25. */
export class ResourceNotFoundError extends ProtocolError {
  constructor(uri: string) {
    super(ErrorCode.InvalidParams, `Resource not found: ${uri}`, { uri });
    this.name = "ResourceNotFoundError";
  }
}

/**
 * A tool's arguments do not fit its schema: told to the model in a result since 2025-11-25,
 * and to the client by an error (−32602) before.
 */
export class InvalidArgumentsError extends ProtocolError {
  constructor(message: string) {
    super(ErrorCode.InvalidParams, message);
    this.name = "InvalidArgumentsError";
  }
}

/** The client did not declare what the request needs of it (−32021; before 2026-07-28 there is no such code). */
export class MissingCapabilityError extends ProtocolError {
  constructor(what: string, requiredCapabilities: JsonValue) {
    super(ErrorCode.MissingRequiredClientCapability, `Missing client capability: ${what}`, {
      requiredCapabilities,
    });
    this.name = "MissingCapabilityError";
  }
}

/** The tool runs as a task only: the client has to take tasks, or (−32601, 2025-11-25) to ask for one. */
export class TaskRequiredError extends MissingCapabilityError {
  constructor(tool: string) {
    super("tasks", { extensions: { [TASKS_EXTENSION]: {} } });
    this.message = `${tool} runs as a task only, and this client takes none`;
    this.name = "TaskRequiredError";
  }
}

/** A page that the user has to visit before a request can be carried out. */
export interface RequiredVisit {
  /** Why, for the user to read. */
  message: string;
  url: URL;
  /** Names the visit, unguessably; most likely it is part of the URL, too. Default: a random one. */
  elicitationId?: string;
}

/**
 * The request cannot be carried out until the user has been to these pages: −32042 in 2025-11-25. Since then the
 * request asks for it (`input_required`); before, clients cannot be asked.
 */
export class UrlElicitationRequiredError extends ProtocolError {
  readonly elicitations: readonly (ElicitUrlParams & { elicitationId: string })[];

  /** @throws Error when there is nothing to visit */
  constructor(visits: readonly RequiredVisit[], message = visits.map((visit) => visit.message).join("; ")) {
    if (visits.length === 0) throw new Error("A URL elicitation that is required needs a page to visit");
    const elicitations = visits.map(({ message, url, elicitationId = crypto.randomUUID() }) => ({
      mode: "url" as const,
      elicitationId,
      url: url.href,
      message,
    }));
    super(ErrorCode.UrlElicitationRequired, message, { elicitations });
    this.name = "UrlElicitationRequiredError";
    this.elicitations = elicitations;
  }
}

/** The options that bound something; an error about one names it. */
export type LimitName =
  | "maxDepth"
  | "maxValues"
  | "maxMessageBytes"
  | "maxLineLength"
  | "maxPages"
  | "maxSessions"
  | "maxSessionLength"
  | "maxSseConnections"
  | "maxInFlight"
  | "maxRequests"
  | "maxBatch"
  | "maxQuestions"
  | "maxSubscriptions"
  | "maxWatched"
  | "maxStateBytes"
  | "maxTasks"
  | "maxTasksPerOwner"
  | "maxSchemaDepth"
  | "maxSubschemas"
  | "maxPatternLength"
  | "maxUsedStates"
  | "maxVerifying"
  | "maxSessionsPerPrincipal"
  | "maxRequestsPerPrincipal"
  | "maxStreamsPerPrincipal"
  | "maxSubscriptionsPerPrincipal"
  | "maxSseConnectionsPerPrincipal"
  | "maxProofs"
  | "maxProofsPerPrincipal"
  | "rates.calls"
  | "rates.completions"
  | "rates.tasks";

/** An invalid request (−32600) that passed a bound; `data.limit` names it. */
export function limitError(name: LimitName, message: string, value: number): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidRequest, message, { limit: name, value });
}

/** What a request needs, such as the store of sessions, cannot be reached now: over HTTP 503, with `Retry-After`. */
export class UnavailableError extends ProtocolError {
  /** @param what such as `The session store` */
  constructor(what: string, why: string, options?: ErrorOptions) {
    const message = `${what} cannot be reached now: ${why}; try again in a moment`;
    super(ErrorCode.InternalError, message, undefined, options);
    this.name = "UnavailableError";
  }
}

/** Any thrown value as what may be sent: a ProtocolError as it is, all else without its text. */
export function toErrorObject(thrown: unknown): ErrorObject {
  if (thrown instanceof ProtocolError) {
    return thrown.data === undefined
      ? { code: thrown.code, message: thrown.message }
      : { code: thrown.code, message: thrown.message, data: thrown.data };
  }
  return { code: ErrorCode.InternalError, message: "Internal error" };
}
