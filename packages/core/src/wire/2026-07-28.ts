/** 2026-07-28: each result says its type and its server, each list how long it may be kept. */

import { toErrorObject } from "../errors.ts";
import type { Wire } from "./wire.ts";

export const wire20260728: Wire = {
  revision: "2026-07-28",
  era: "modern",
  wrongArgumentsAreResults: true,

  writeResult(result, serverMeta) {
    if (result._meta !== undefined || result.resultType !== undefined) {
      const { _meta, resultType = "complete", ...rest } = result;
      const meta = _meta === undefined ? {} : _meta;
      return open(resultType as string) + membersOf(rest) + close(serverMeta, membersOf(meta));
    }
    return open("complete") + membersOf(result) + close(serverMeta, "");
  },

  writeDefinition: (definition) => JSON.stringify(definition),

  writePage(members, { ttlMs, cacheScope }, serverMeta) {
    return `${open("complete")},${members},"ttlMs":${ttlMs},"cacheScope":"${cacheScope}"${close(serverMeta, "")}`;
  },

  implementation: (info) => info,
  capabilities: (capabilities) => capabilities,
  notificationParams: (_method, params) => params,
  inputRequest: (request) => request,
  error: toErrorObject,
};

function open(resultType: string): string {
  return resultType === "complete"
    ? '{"resultType":"complete"'
    : `{"resultType":${JSON.stringify(resultType)}`;
}

function close(serverMeta: string, otherMeta: string): string {
  return `,"_meta":{${serverMeta}${otherMeta}}}`;
}

/** An object's members as text, each after a comma. */
function membersOf(value: object): string {
  const text = JSON.stringify(value);
  return text === "{}" ? "" : `,${text.slice(1, -1)}`;
}
