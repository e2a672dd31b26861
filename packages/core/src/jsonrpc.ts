/** A JSON-RPC message: told apart once from its text, written once to its text. */

import { ErrorCode, type ErrorObject, ProtocolError } from "./errors.ts";
import {
  DEFAULT_JSON_LIMITS,
  isObject,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  parseJson,
} from "./json.ts";

/** A request's id: a string or an integer, never null (basic/index § Requests). */
export type RequestId = string | number;

export interface RequestMessage {
  kind: "request";
  id: RequestId;
  method: string;
  params: JsonObject;
}

export interface NotificationMessage {
  kind: "notification";
  method: string;
  params: JsonObject;
}

export interface ResultMessage {
  kind: "result";
  id: RequestId;
  result: JsonObject;
}

export interface ErrorMessage {
  kind: "error";
  /** Missing when the sender could not read the request's id. */
  id: RequestId | undefined;
  error: ErrorObject;
}

/** What was received is no message. */
export interface InvalidMessage {
  kind: "invalid";
  /** The one to answer with, or that a response is for, where one could be read. */
  id: RequestId | undefined;
  error: ErrorObject;
  /** It was to answer a request of ours. Who answers it in turn would answer a request of the sender's own. */
  isResponse: boolean;
}

export type Message = RequestMessage | NotificationMessage | ResultMessage | ErrorMessage;

const NO_PARAMS: JsonObject = Object.freeze({});

/** Reads one message from its text. Never throws: what is no message comes back as `invalid`. */
export function parseMessage(
  text: string,
  limits: JsonLimits = DEFAULT_JSON_LIMITS,
): Message | InvalidMessage {
  let value: JsonValue;
  try {
    value = parseJson(text, limits);
  } catch (thrown) {
    if (thrown instanceof ProtocolError) return invalid(thrown.code, thrown.message, undefined, thrown.data);
    return invalid(ErrorCode.ParseError, "Parse error: the message is not valid JSON");
  }
  return toMessage(value);
}

/**
 * Reads a text that may be a batch: several messages in an array, which only 2025-03-26 has. An array is always
 * given as one, for the caller to take or refuse.
 */
export function parseMessages(
  text: string,
  limits: JsonLimits = DEFAULT_JSON_LIMITS,
): Message | InvalidMessage | (Message | InvalidMessage)[] {
  if (!text.trimStart().startsWith("[")) return parseMessage(text, limits);
  try {
    const value = parseJson(text, limits);
    return Array.isArray(value) && value.length > 0 ? value.map(toMessage) : toMessage(value);
  } catch {
    return parseMessage(text, limits);
  }
}

/** The refusal of a batch, where the revision has none. */
export const NO_BATCHES: InvalidMessage = invalid(
  ErrorCode.InvalidRequest,
  "Invalid request: a batch of messages is part of revision 2025-03-26 only",
);

/** Tells which kind of message a parsed JSON value is. */
export function toMessage(value: JsonValue): Message | InvalidMessage {
  if (!isObject(value)) {
    const got = Array.isArray(value) ? "an array" : kindOf(value);
    return invalid(ErrorCode.InvalidRequest, `Invalid request: a message is a JSON object, not ${got}`);
  }
  const { id, method } = value;
  const validId = isRequestId(id) ? id : undefined;
  const isResponse = method === undefined && (value.result !== undefined || value.error !== undefined);
  const refused = (what: string): InvalidMessage => ({
    ...invalid(ErrorCode.InvalidRequest, `Invalid ${isResponse ? "response" : "request"}: ${what}`, validId),
    isResponse,
  });
  if (value.jsonrpc !== "2.0") return refused('"jsonrpc" must be "2.0"');
  if (id !== undefined && validId === undefined && !(id === null && value.error !== undefined)) {
    const got = id === null ? "null" : kindOf(id);
    return refused(`"id" must be a string or an integer, not ${got}`);
  }
  if (method !== undefined) {
    if (typeof method !== "string") return refused(`"method" must be a string, not ${kindOf(method)}`);
    const params = value.params ?? NO_PARAMS;
    if (!isObject(params)) {
      return invalid(
        ErrorCode.InvalidParams,
        `Invalid params: "params" must be an object, not ${kindOf(params)}`,
        validId,
      );
    }
    return validId === undefined
      ? { kind: "notification", method, params }
      : { kind: "request", id: validId, method, params };
  }
  // Some write `"error": null` beside a result; that is none.
  if (value.result !== undefined && value.error !== undefined && value.error !== null) {
    return refused('a response has a "result" or an "error", not both');
  }
  if (value.result !== undefined && validId !== undefined) {
    return isObject(value.result)
      ? { kind: "result", id: validId, result: value.result }
      : refused('"result" must be an object');
  }
  const error = value.error;
  if (isObject(error) && Number.isInteger(error.code) && typeof error.message === "string") {
    return { kind: "error", id: validId, error: error as unknown as ErrorObject };
  }
  return refused('a message has a "method", or an "id" with a "result" or an "error"');
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isInteger(value);
}

function kindOf(value: JsonValue | undefined): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function invalid(code: number, message: string, id?: RequestId, data?: JsonValue): InvalidMessage {
  const error = data === undefined ? { code, message } : { code, message, data };
  return { kind: "invalid", id, error, isResponse: false };
}

/** The text of a request. `params` may be given as JSON text that was written before. */
export function writeRequest(id: RequestId, method: string, params?: object | string): string {
  return `{"jsonrpc":"2.0","id":${writeId(id)},"method":${JSON.stringify(method)}${writeParams(params)}}`;
}

/** The text of a notification. */
export function writeNotification(method: string, params?: object | string): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)}${writeParams(params)}}`;
}

/** The text of a successful response around a result that was written before. */
export function writeResult(id: RequestId, resultText: string): string {
  return `{"jsonrpc":"2.0","id":${writeId(id)},"result":${resultText}}`;
}

/** The text of an error response; without an id when none could be read. */
export function writeError(id: RequestId | undefined, error: ErrorObject): string {
  const idMember = id === undefined ? "" : `"id":${writeId(id)},`;
  return `{"jsonrpc":"2.0",${idMember}"error":${JSON.stringify(error)}}`;
}

function writeId(id: RequestId): string {
  return typeof id === "number" ? String(id) : JSON.stringify(id);
}

function writeParams(params: object | string | undefined): string {
  if (params === undefined) return "";
  return `,"params":${typeof params === "string" ? params : JSON.stringify(params)}`;
}
