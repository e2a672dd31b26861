/** What you can ask of a server, once you are connected. */

import {
  type CallToolResult,
  type CompleteParams,
  type CompleteResult,
  type Era,
  ErrorCode,
  type GetPromptResult,
  type Implementation,
  isObject,
  type JsonObject,
  type LoggingLevel,
  META,
  type Progress,
  type Prompt,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Revision,
  type ServerCapabilities,
  type Tool,
} from "@patchbay/core";
import type { Roots } from "./answers.ts";
import type { Conversation, Question } from "./conversation.ts";
import { InvalidResponseError } from "./errors.ts";
import type { Agreement } from "./negotiate.ts";
import type { RequestOptions } from "./options.ts";
import {
  arrayOf,
  type ItemCheck,
  isContentBlock,
  isContents,
  isPrompt,
  isPromptMessage,
  isResource,
  isTemplate,
  isTool,
} from "./results.ts";
import { asksForInput, completeRounds } from "./rounds.ts";

/**
 * A connection to one server. Each request rejects with a `ProtocolError` (the server answered with an
 * error), a `ConnectionError` (no answer can come), a `TimeoutError`, an `InvalidResponseError`, or the
 * reason of its `signal`.
 */
export interface Client {
  /** Who the server says it is: for display and logs, not verified. */
  readonly server: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  /** How a model should use the server, in the server's words. */
  readonly instructions: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  /** Settles when the connection has ended: with the cause, or with nothing after `close()`. */
  readonly closed: Promise<Error | undefined>;
  /** All tools, from all pages (server/tools). None when the server does not have the capability. */
  listTools(options?: RequestOptions): Promise<Tool[]>;
  /** Calls a tool. A tool that ran and failed gives a result with `isError`, not an error (server/tools). */
  callTool(name: string, args?: object, options?: RequestOptions): Promise<CallToolResult>;
  /** All resources, from all pages (server/resources). */
  listResources(options?: RequestOptions): Promise<Resource[]>;
  /** All resource templates, from all pages (server/resources § Resource Templates). */
  listResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]>;
  /** Reads a resource (server/resources). */
  readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult>;
  /** All prompts, from all pages (server/prompts). */
  listPrompts(options?: RequestOptions): Promise<Prompt[]>;
  /** Fills in a prompt (server/prompts). */
  getPrompt(name: string, args?: Record<string, string>, options?: RequestOptions): Promise<GetPromptResult>;
  /** Suggestions for an argument of a prompt or of a template (server/utilities/completion). */
  complete(params: CompleteParams, options?: RequestOptions): Promise<CompleteResult>;
  /** Resolves when the server answers. Since 2026-07-28 there is no `ping`: `server/discover` is asked. */
  ping(options?: RequestOptions): Promise<void>;
  /** The least severe level to be told from now on; since 2026-07-28 each request carries it. */
  setLogLevel(level: LoggingLevel): Promise<void>;
  /** From now on a server may work there; a legacy one is told that it changed (client/roots). */
  setRoots(roots: Roots): Promise<void>;
  /**
   * Sends any other request. Of the result nothing but its `resultType` is looked at. Questions of the server are
   * answered, unless `params` bring the answers of an earlier round.
   */
  request(method: string, params?: object, options?: RequestOptions): Promise<JsonObject>;
  /** Ends the connection. Of a server process nothing is left when it resolves, nor of its own children. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The client over a conversation that has been opened. */
export class ConnectedClient implements Client {
  readonly server: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
  readonly revision: Revision;
  readonly era: Era;
  readonly closed: Promise<Error | undefined>;
  readonly #conversation: Conversation;

  constructor(conversation: Conversation, agreement: Agreement) {
    this.#conversation = conversation;
    this.server = agreement.server;
    this.capabilities = agreement.capabilities;
    this.instructions = agreement.instructions;
    this.revision = agreement.revision;
    this.era = agreement.era;
    this.closed = conversation.closed;
  }

  async listTools(options?: RequestOptions): Promise<Tool[]> {
    if (this.capabilities.tools === undefined) return [];
    return (await this.#list("tools/list", "tools", isTool, options)) as unknown as Tool[];
  }

  async callTool(name: string, args: object = {}, options?: RequestOptions): Promise<CallToolResult> {
    const members = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)}`;
    const result = await this.#ask({ method: "tools/call", members, name }, options);
    arrayOf("tools/call", result, "content", isContentBlock);
    return result as unknown as CallToolResult;
  }

  async listResources(options?: RequestOptions): Promise<Resource[]> {
    if (this.capabilities.resources === undefined) return [];
    return (await this.#list("resources/list", "resources", isResource, options)) as unknown as Resource[];
  }

  async listResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]> {
    if (this.capabilities.resources === undefined) return [];
    try {
      const templates = await this.#list(
        "resources/templates/list",
        "resourceTemplates",
        isTemplate,
        options,
      );
      return templates as unknown as ResourceTemplate[];
    } catch (error) {
      // There is no capability of its own for templates: a server without them may not know the method.
      if (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound) return [];
      throw error;
    }
  }

  async readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult> {
    const members = `"uri":${JSON.stringify(uri)}`;
    const result = await this.#ask({ method: "resources/read", members, name: uri }, options);
    arrayOf("resources/read", result, "contents", isContents);
    return result as unknown as ReadResourceResult;
  }

  async listPrompts(options?: RequestOptions): Promise<Prompt[]> {
    if (this.capabilities.prompts === undefined) return [];
    return (await this.#list("prompts/list", "prompts", isPrompt, options)) as unknown as Prompt[];
  }

  async getPrompt(
    name: string,
    args: Record<string, string> = {},
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    const members = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)}`;
    const result = await this.#ask({ method: "prompts/get", members, name }, options);
    arrayOf("prompts/get", result, "messages", isPromptMessage);
    return result as unknown as GetPromptResult;
  }

  async complete(params: CompleteParams, options?: RequestOptions): Promise<CompleteResult> {
    const result = await this.request("completion/complete", params, options);
    const values = isObject(result.completion) ? result.completion.values : undefined;
    if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
      throw new InvalidResponseError('completion/complete: the result has no "completion.values" of strings');
    }
    return result as unknown as CompleteResult;
  }

  async ping(options?: RequestOptions): Promise<void> {
    const method = this.era === "legacy" ? "ping" : "server/discover";
    await this.#conversation.request({ method, members: "" }, options);
  }

  async setLogLevel(level: LoggingLevel): Promise<void> {
    this.#conversation.logLevel = level;
    if (this.era === "legacy") await this.request("logging/setLevel", { level });
  }

  async request(method: string, params: object = {}, options?: RequestOptions): Promise<JsonObject> {
    const question = questionOf(method, params as JsonObject);
    // Who brings answers along goes from round to round on their own.
    if ("requestState" in params || "inputResponses" in params)
      return this.#conversation.request(question, options);
    return this.#ask(question, options);
  }

  async setRoots(roots: Roots): Promise<void> {
    const declared = this.#conversation.answers.capabilities(this.era).roots !== undefined;
    if (!declared)
      throw new TypeError("setRoots: no roots were given to connect(), so the server asks for none");
    this.#conversation.answers.setRoots(roots);
    if (this.era === "legacy") await this.#conversation.notify("notifications/roots/list_changed");
  }

  close(): Promise<void> {
    return this.#conversation.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A request that the server may answer by questions. */
  async #ask(question: Question, options?: RequestOptions): Promise<JsonObject> {
    const told =
      options?.onProgress === undefined ? options : { ...options, onProgress: growing(options.onProgress) };
    const result = await this.#conversation.request(question, told);
    return asksForInput(result) ? completeRounds(this.#conversation, question, told, result) : result;
  }

  /** Collects a list from all its pages (server/utilities/pagination). */
  async #list(
    method: string,
    key: string,
    check: ItemCheck,
    options?: RequestOptions,
  ): Promise<JsonObject[]> {
    const { maxPages } = this.#conversation.settings;
    const all: JsonObject[] = [];
    const seen = new Set<string>();
    let members = "";
    for (let page = 1; page <= maxPages; page++) {
      const result = await this.#conversation.request({ method, members }, options);
      for (const item of arrayOf(method, result, key, check)) all.push(item);
      const { nextCursor } = result;
      // An empty string is a cursor like any other; some servers write null for none.
      if (nextCursor === undefined || nextCursor === null) return all;
      if (typeof nextCursor !== "string")
        throw new InvalidResponseError(`${method}: nextCursor is not a string`);
      if (seen.has(nextCursor)) throw new InvalidResponseError(`${method}: the server repeats a cursor`);
      seen.add(nextCursor);
      members = `"cursor":${JSON.stringify(nextCursor)}`;
    }
    throw new InvalidResponseError(`${method}: the list has more pages than maxPages allows (${maxPages})`);
  }
}

/** Takes a caller's `_meta` apart from its params: ours is joined to it as text. */
function questionOf(method: string, params: JsonObject): Question {
  const { _meta, ...rest } = params;
  const name = method === "resources/read" ? params.uri : params.name;
  return {
    method,
    members: membersOf(rest),
    ...(isObject(_meta) ? { meta: membersOf(withoutReserved(_meta)) } : {}),
    ...(typeof name === "string" && NAMED_METHODS.has(method) ? { name } : {}),
  };
}

/** Each round counts its progress from the start; the application is told of what is new. */
function growing(onProgress: (progress: Progress) => void): (progress: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (told) => {
    if (told.progress <= last) return;
    last = told.progress;
    onProgress(told);
  };
}

const NAMED_METHODS = new Set(["tools/call", "prompts/get", "resources/read"]);
const OUR_META = new Set<string>([
  META.protocolVersion,
  META.clientInfo,
  META.clientCapabilities,
  META.logLevel,
  "progressToken",
]);

/** What the connection itself puts into `_meta` must not be there twice. */
function withoutReserved(meta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !OUR_META.has(key)));
}

function membersOf(value: JsonObject): string {
  return JSON.stringify(value).slice(1, -1);
}
