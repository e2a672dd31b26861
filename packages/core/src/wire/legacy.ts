/** The legacy revisions, 2024-11-05 to 2025-11-25: each is the newest spelling without what came after it. */

import {
  ErrorCode,
  MissingCapabilityError,
  ResourceNotFoundError,
  TaskRequiredError,
  toErrorObject,
} from "../errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../json.ts";
import type { ServerCapabilities } from "../model/capabilities.ts";
import { TASKS_EXTENSION } from "../model/tasks.ts";
import type { Revision } from "../revisions.ts";
import { elicitation, sampling } from "./legacy-questions.ts";
import { resultJson } from "./result-json.ts";
import type { Wire } from "./wire.ts";

/** When a member came into the protocol, where that was after 2024-11-05. */
const MEMBERS_SINCE: Record<string, string> = {
  title: "2025-06-18",
  outputSchema: "2025-06-18",
  structuredContent: "2025-06-18",
  _meta: "2025-06-18",
  icons: "2025-11-25",
  lastModified: "2025-06-18",
  execution: "2025-11-25",
  ttlMs: "2026-07-28",
  cacheScope: "2026-07-28",
  resultType: "2026-07-28",
};

/** When a type of content came into the protocol, likewise. */
const CONTENT_SINCE: Record<string, string> = { audio: "2025-03-26", resource_link: "2025-06-18" };

/** Makes the writing of one legacy revision. */
export function legacyWire(revision: Revision): Wire {
  const lacks = (since: string | undefined) => since !== undefined && revision < since;
  const lacked = new Set(Object.keys(MEMBERS_SINCE).filter((member) => lacks(MEMBERS_SINCE[member])));
  // The newest of them lacks nothing in content: its results are written as they are, unless a member has to go.
  const rewritesContent = Object.values(CONTENT_SINCE).some(lacks) || lacks(MEMBERS_SINCE.icons);

  function without(value: object): JsonObject {
    const kept: JsonObject = {};
    for (const [member, inner] of Object.entries(value)) if (!lacked.has(member)) kept[member] = inner;
    if (lacked.has("lastModified") && isObject(kept.annotations)) {
      const { lastModified: _, ...annotations } = kept.annotations;
      kept.annotations = annotations;
    }
    return kept;
  }

  /** A block that the revision cannot hold becomes text that says what it was. */
  function block(content: JsonValue | undefined): JsonValue | undefined {
    if (!isObject(content)) return content;
    if (lacks(CONTENT_SINCE[String(content.type)])) return { type: "text", text: describe(content) };
    const kept = without(content);
    if (isObject(kept.resource)) kept.resource = without(kept.resource);
    return kept;
  }

  function blocks(content: JsonValue | undefined): JsonValue | undefined {
    return Array.isArray(content) ? content.map((item) => block(item) as JsonValue) : block(content);
  }

  function result(given: object): JsonObject {
    const kept = without(given);
    // `_meta` of a result itself is as old as the protocol.
    const { _meta } = given as JsonObject;
    if (_meta !== undefined) kept._meta = _meta;
    // Structured content that is no object came with 2026-07-28; the text beside it says the same.
    if ("structuredContent" in kept && !isObject(kept.structuredContent)) delete kept.structuredContent;
    if (!rewritesContent) return kept;
    if (kept.content !== undefined) kept.content = blocks(kept.content);
    if (Array.isArray(kept.contents)) {
      kept.contents = kept.contents.map((item) => (isObject(item) ? without(item) : item));
    }
    if (Array.isArray(kept.messages)) {
      kept.messages = kept.messages.map((message) =>
        isObject(message) ? { ...message, content: blocks(message.content) } : message,
      );
    }
    return kept;
  }

  return {
    revision,
    era: "legacy",
    wrongArgumentsAreResults: revision >= "2025-11-25",

    writeResult(given) {
      const { ttlMs, cacheScope, resultType, structuredContent } = given;
      const plain =
        !rewritesContent &&
        ttlMs === undefined &&
        cacheScope === undefined &&
        resultType === undefined &&
        (structuredContent === undefined || isObject(structuredContent));
      return resultJson(plain ? given : result(given));
    },

    writeDefinition(definition) {
      const kept = without(definition);
      if (isObject(kept.outputSchema) && kept.outputSchema.type !== "object") delete kept.outputSchema;
      if ("inputSchema" in kept && revision < "2025-03-26") delete kept.annotations;
      if (Array.isArray(kept.arguments)) {
        kept.arguments = kept.arguments.map((argument) =>
          isObject(argument) ? without(argument) : argument,
        );
      }
      return JSON.stringify(kept);
    },

    writePage: (members) => `{${members}}`,

    implementation(info) {
      const kept = without(info);
      if (revision < "2025-11-25") {
        delete kept.description;
        delete kept.websiteUrl;
      }
      return kept as unknown as typeof info;
    },

    capabilities(capabilities) {
      const { completions, ...others } = withTasks(capabilities, revision);
      return completions === undefined || revision < "2025-03-26" ? others : { ...others, completions };
    },

    notificationParams(method, params) {
      if (revision >= "2025-03-26" || method !== "notifications/progress") return params;
      return { ...params, message: undefined };
    },

    inputRequest(request) {
      if (request.method === "sampling/createMessage") {
        return sampling(request.params, revision, block);
      }
      return request.method === "elicitation/create" ? elicitation(request.params, revision) : request;
    },

    error(thrown) {
      const error = toErrorObject(thrown);
      if (thrown instanceof ResourceNotFoundError) return { ...error, code: ErrorCode.ResourceNotFound };
      if (thrown instanceof TaskRequiredError && revision >= "2025-11-25") {
        return {
          code: ErrorCode.MethodNotFound,
          message: 'This tool runs as a task only: call it with "task"',
        };
      }
      if (error.code === ErrorCode.UrlElicitationRequired && revision < "2025-11-25") {
        return { code: ErrorCode.InvalidRequest, message: error.message };
      }
      if (thrown instanceof MissingCapabilityError) return { ...error, code: ErrorCode.InvalidRequest };
      return error;
    },
  };
}

/** Tasks are a capability in 2025-11-25, an extension since, and nothing before. */
function withTasks({ extensions, ...others }: ServerCapabilities, revision: Revision): ServerCapabilities {
  if (extensions?.[TASKS_EXTENSION] === undefined) {
    return extensions === undefined ? others : { ...others, extensions };
  }
  const { [TASKS_EXTENSION]: _, ...rest } = extensions;
  return {
    ...others,
    ...(Object.keys(rest).length > 0 && { extensions: rest }),
    ...(revision >= "2025-11-25" && { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }),
  };
}

function describe(content: JsonObject): string {
  if (content.type === "resource_link") return `${content.title ?? content.name}: ${content.uri}`;
  return `[${content.type}: ${content.mimeType ?? "unknown type"}, not part of this revision]`;
}
