/** `_meta`: its reserved keys, and how keys are spelled (2026-07-28, basic/index § _meta). */

import { isObject } from "./json.ts";

export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** 2025-11-25 only: the task that a message belongs to (basic/utilities/tasks § Related Task Metadata). */
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

const LABEL = "[a-z](?:[a-z\\d-]*[a-z\\d])?";
const PREFIX = `${LABEL}(?:\\.${LABEL})*/`;
const NAME = "(?:[a-z\\d](?:[\\w.-]*[a-z\\d])?)?";
const KEY = new RegExp(`^(?:${PREFIX})?${NAME}$`, "i");
const PREFIXED = new RegExp(`^${PREFIX}${NAME}$`, "i");

/** Whether a name has a prefix, as those of extensions have: `com.example/feature`. */
export function isPrefixedName(name: string): boolean {
  return PREFIXED.test(name);
}

/** What is wrong with a `_meta`, if anything is: it is an object, and its keys are names. */
export function metaFault(meta: unknown): string | undefined {
  if (!isObject(meta)) return "_meta must be an object";
  for (const key in meta) {
    if (KEY.test(key)) continue;
    return (
      `_meta has the key ${JSON.stringify(key.slice(0, 128))}: a key is a name of letters, digits, "-", "_" and ".", ` +
      'after a prefix such as "com.example/" or none'
    );
  }
  return undefined;
}
