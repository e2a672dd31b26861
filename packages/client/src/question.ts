/** A request before it is sent, its parameters as text: they are written once, whatever is joined to them. */

import { isObject, type JsonObject, type LoggingLevel, META, metaFault } from "@patchbay/core";
import type { RequestOptions } from "./options.ts";

/** A request before it is sent; `members` and `meta` are the members of `params` and its `_meta`, as JSON text. */
export interface Question {
  method: string;
  members: string;
  meta?: string;
  /** The tool, prompt, resource or task that is asked for. */
  name?: string;
  /** Parameters of the tool that are repeated in headers: name, value, name, value. */
  mirrored?: readonly string[] | undefined;
  /** Whether it may be sent again where nobody knows if it was done: nothing is done twice by it. */
  repeatable?: boolean;
  /** It opens the connection: all else waits for it when that was lost. */
  opens?: true;
  /** Is told each notification of the subscription that this request opens. */
  onNotice?: (method: string, params: JsonObject) => void;
}

/**
 * The text of a request's params; none at all where there is nothing to say.
 *
 * @param ours the members of `_meta` that each request of a modern client carries; empty for a legacy one
 * @param level the least severe level of log messages that is asked for
 */
export function paramsOf(
  { members, meta: own = "" }: Question,
  id: number,
  ours: string,
  options: RequestOptions,
  level: LoggingLevel | undefined,
): string | undefined {
  let meta = own;
  if (ours !== "") {
    meta = meta === "" ? ours : `${meta},${ours}`;
    const wanted = level ?? (options.onLog === undefined ? undefined : "info");
    if (wanted !== undefined) meta += `,"${META.logLevel}":"${wanted}"`;
  }
  if (options.onProgress !== undefined) meta += `${meta === "" ? "" : ","}"progressToken":${id}`;
  if (meta === "") return members === "" ? undefined : `{${members}}`;
  return members === "" ? `{"_meta":{${meta}}}` : `{${members},"_meta":{${meta}}}`;
}

/** Takes a caller's `_meta` apart from its params: ours is joined to it as text. */
export function questionOf(method: string, params: JsonObject): Question {
  const { _meta, ...rest } = params;
  const name = params[NAMED_BY[method] ?? ""];
  return {
    method,
    members: membersOf(rest),
    ...(isObject(_meta) ? { meta: membersOf(withoutReserved(_meta)) } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
}

/** The member of params that says what a request is about (SEP-2243, SEP-2663 § Routing). */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};
const OUR_META = new Set<string>([
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
  "progressToken",
]);

/**
 * What the connection itself puts into `_meta` must not be there twice.
 *
 * @throws Error for a key that is no name
 */
export function withoutReserved(meta: JsonObject): JsonObject {
  const fault = metaFault(meta);
  if (fault !== undefined) throw new Error(fault);
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !OUR_META.has(key)));
}

/** The members of an object, as JSON text. */
export function membersOf(value: JsonObject): string {
  return JSON.stringify(value).slice(1, -1);
}
