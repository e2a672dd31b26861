/** 2026-07-28: each result says its type and its server, each list how long it may be kept. */

import { ErrorCode, toErrorObject, UrlElicitationRequiredError } from "../errors.ts";
import { META } from "../meta.ts";
import { resultJson, withMembers } from "./result-json.ts";
import type { Wire } from "./wire.ts";

export const wire20260728: Wire = {
  revision: "2026-07-28",
  era: "modern",
  wrongArgumentsAreResults: true,

  writeResult(result, serverMeta) {
    if (result._meta !== undefined || result.resultType !== undefined) {
      const { _meta = {}, resultType = "complete", ...rest } = result;
      // A result that was another server's brings that one's name: this one answers.
      const { [META.serverInfo]: _theirs, ...own } = _meta;
      const type = `"resultType":${JSON.stringify(resultType)}`;
      return withMembers(
        JSON.stringify(rest),
        `${type},"_meta":${withMembers(JSON.stringify(own), serverMeta)}`,
      );
    }
    return resultJson(result, `"resultType":"complete","_meta":{${serverMeta}}`);
  },

  writeDefinition(definition) {
    if (!("execution" in definition)) return JSON.stringify(definition);
    // Of 2025-11-25 alone; here the server decides what becomes a task (SEP-2663).
    const { execution: _, ...rest } = definition;
    return JSON.stringify(rest);
  },

  writePage(members, { ttlMs, cacheScope }, serverMeta) {
    return `{${members},"ttlMs":${ttlMs},"cacheScope":"${cacheScope}","resultType":"complete","_meta":{${serverMeta}}}`;
  },

  implementation: (info) => info,
  capabilities: (capabilities) => capabilities,
  notificationParams: (_method, params) => params,
  inputRequest(request) {
    if (request.method !== "elicitation/create" || request.params.mode !== "url") return request;
    const { elicitationId: _, ...params } = request.params;
    return { ...request, params };
  },
  error(thrown) {
    const error = toErrorObject(thrown);
    // Its pages are asked for, not told of.
    if (thrown instanceof UrlElicitationRequiredError) delete error.data;
    const code = codeToday(error.code);
    return code === error.code ? error : { ...error, code };
  },
};

/** Codes of earlier revisions, and what stands for them now (basic/index § Error Codes). */
const RETIRED = new Map<number, number>([
  [ErrorCode.ResourceNotFound, ErrorCode.InvalidParams],
  [ErrorCode.UrlElicitationRequired, ErrorCode.InternalError],
]);
const DEFINED: readonly number[] = Object.values(ErrorCode);

/** A code that only the specification may define, and did not, is an error of ours. */
function codeToday(code: number): number {
  const today = RETIRED.get(code);
  if (today !== undefined) return today;
  const reserved = code <= -32020 && code >= -32099;
  return reserved && !DEFINED.includes(code) ? ErrorCode.InternalError : code;
}
