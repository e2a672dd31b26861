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
  type Prompt,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplate,
  type Revision,
  type ServerCapabilities,
  type Tool,
  type ToolInput,
  type ToolName,
  type ToolOutput,
} from "@patchbay/core";
import type { Roots } from "./answers.ts";
import { CACHEABLE } from "./cache.ts";
import type { Conversation } from "./conversation.ts";
import { InvalidResponseError } from "./errors.ts";
import type { Agreement } from "./negotiate.ts";
import type { CallOptions, RequestOptions } from "./options.ts";
import { questionOf } from "./question.ts";
import { Requests } from "./requests.ts";
import { arrayOf, isContents, isPrompt, isPromptMessage, isResource, isTemplate } from "./results.ts";
import { answerAll } from "./rounds.ts";
import { SKILLS_EXTENSION, type Skill } from "./skills.ts";
import type { Change, ChangeFilter, Subscription } from "./subscriptions/changes.ts";
import { LegacySubscriptions } from "./subscriptions/legacy.ts";
import { listenModern } from "./subscriptions/modern.ts";
import type { ToolTask } from "./tasks/task.ts";
import { tell } from "./tell.ts";
import { ToolCalls } from "./tool-calls.ts";

/**
 * A connection to one server. Each request rejects with a `ProtocolError` (the server answered with an
 * error), a `ConnectionError` (no answer can come), a `TimeoutError`, an `InvalidResponseError`, or the
 * reason of its `signal`.
 */
export interface Client<Tools = unknown> {
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
  /**
   * Calls a tool. A tool that ran and failed gives a result with `isError`, not an error (server/tools). With
   * `tasks: true` a call that goes on as a task is followed to its result; giving up cancels the task.
   */
  callTool<Name extends ToolName<Tools>>(
    name: Name,
    args?: ToolInput<Tools, Name>,
    options?: CallOptions,
  ): Promise<ToolOutput<Tools, Name>>;
  /**
   * Calls a tool that may run as a task, and gives a handle as soon as the server has it. Needs `tasks: true`. A server
   * may answer at once all the same: then the result is there.
   */
  startTool<Name extends ToolName<Tools>>(
    name: Name,
    args?: ToolInput<Tools, Name>,
    options?: CallOptions,
  ): Promise<ToolTask<ToolOutput<Tools, Name>>>;
  /** Takes a task up again by its id, be it one of an earlier connection. Nothing is sent. Needs `tasks: true`. */
  task(taskId: string): ToolTask;
  /** All resources, from all pages (server/resources). */
  listResources(options?: RequestOptions): Promise<Resource[]>;
  /** All resource templates, from all pages (server/resources § Resource Templates). */
  listResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]>;
  /** Reads a resource (server/resources). */
  readResource(uri: string, options?: RequestOptions): Promise<ReadResourceResult>;
  /** All prompts, from all pages (server/prompts). */
  listPrompts(options?: RequestOptions): Promise<Prompt[]>;
  /**
   * All skills (SEP-2640). From then on a file of theirs that is read is checked by its entry: one that differs is an
   * InvalidResponseError. None is fetched before it is asked for.
   */
  listSkills(options?: RequestOptions): Promise<Skill[]>;
  /** Fills in a prompt (server/prompts). */
  getPrompt(name: string, args?: Record<string, string>, options?: RequestOptions): Promise<GetPromptResult>;
  /** Suggestions for an argument of a prompt or of a template (server/utilities/completion). */
  complete(params: CompleteParams, options?: RequestOptions): Promise<CompleteResult>;
  /**
   * Answers the questions of a call that was suspended (`InputRequiredError.inputRequests`), by the same callbacks and
   * with the same checks as all others; gives the `inputResponses` to go on with.
   */
  answer(inputRequests: JsonObject, options?: Pick<RequestOptions, "signal">): Promise<JsonObject>;
  /** Resolves when the server answers. Since 2026-07-28 there is no `ping`: `server/discover` is asked. */
  ping(options?: RequestOptions): Promise<void>;
  /** The least severe level to be told from now on; since 2026-07-28 each request carries it. */
  setLogLevel(level: LoggingLevel): Promise<void>;
  /**
   * Is told of changes from now on: in lists, and in the resources that are named. The same in both eras; what the
   * server agreed to tell of is in `honored`.
   */
  listen(filter: ChangeFilter, onChange: (change: Change) => void): Promise<Subscription>;
  /** From now on a server may work there; a legacy one is told that it changed (client/roots). */
  setRoots(roots: Roots): Promise<void>;
  /**
   * Sends any other request. Of the result nothing but its `resultType` is looked at, and a task that a call has become
   * is given as it is. Questions of the server are
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
  readonly #legacy: LegacySubscriptions | undefined;
  readonly #requests: Requests;
  readonly #calls: ToolCalls;

  constructor(conversation: Conversation, agreement: Agreement) {
    this.#conversation = conversation;
    this.server = agreement.server;
    this.capabilities = agreement.capabilities;
    this.instructions = agreement.instructions;
    this.revision = agreement.revision;
    this.era = agreement.era;
    this.closed = conversation.closed;
    if (this.era === "legacy") this.#legacy = new LegacySubscriptions(conversation, this.capabilities);
    this.#requests = new Requests(conversation, agreement.revision);
    this.#calls = new ToolCalls(conversation, this.#requests, agreement);
    conversation.onChange = (change) => {
      this.#requests.invalidate(change);
      this.#legacy?.hear(change);
    };
    conversation.onMissed = () => void this.#catchUp();
  }

  async listTools(options?: RequestOptions): Promise<Tool[]> {
    if (this.capabilities.tools === undefined) return [];
    return (await this.#requests.listTools(options)) as unknown as Tool[];
  }

  callTool(name: string, args: object = {}, options?: CallOptions): Promise<CallToolResult> {
    return this.#calls.call(name, args, options);
  }

  async startTool(name: string, args: object = {}, options?: CallOptions): Promise<ToolTask> {
    return this.#calls.start(name, args, options);
  }

  task(taskId: string): ToolTask {
    return this.#calls.task(taskId);
  }

  async listResources(options?: RequestOptions): Promise<Resource[]> {
    if (this.capabilities.resources === undefined) return [];
    return (await this.#requests.list(
      "resources/list",
      "resources",
      isResource,
      options,
    )) as unknown as Resource[];
  }

  async listResourceTemplates(options?: RequestOptions): Promise<ResourceTemplate[]> {
    if (this.capabilities.resources === undefined) return [];
    try {
      const templates = await this.#requests.list(
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
    const result = await this.#requests.askCached({ method: "resources/read", members, name: uri }, options);
    arrayOf("resources/read", result, "contents", isContents);
    return result as unknown as ReadResourceResult;
  }

  async listSkills(options?: RequestOptions): Promise<Skill[]> {
    if (this.capabilities.extensions?.[SKILLS_EXTENSION] === undefined) return [];
    return this.#requests.listSkills(options);
  }

  async listPrompts(options?: RequestOptions): Promise<Prompt[]> {
    if (this.capabilities.prompts === undefined) return [];
    return (await this.#requests.list("prompts/list", "prompts", isPrompt, options)) as unknown as Prompt[];
  }

  async getPrompt(
    name: string,
    args: Record<string, string> = {},
    options?: RequestOptions,
  ): Promise<GetPromptResult> {
    const members = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)}`;
    const result = await this.#requests.ask({ method: "prompts/get", members, name }, options);
    arrayOf("prompts/get", result, "messages", isPromptMessage);
    return result as unknown as GetPromptResult;
  }

  async complete(params: CompleteParams, options?: RequestOptions): Promise<CompleteResult> {
    const { context: _, ...rest } = params;
    // What was filled in already is of interest since 2025-06-18.
    const known = this.revision >= "2025-06-18" ? params : rest;
    const result = await this.request("completion/complete", known, options);
    const values = isObject(result.completion) ? result.completion.values : undefined;
    if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
      throw new InvalidResponseError('completion/complete: the result has no "completion.values" of strings');
    }
    return result as unknown as CompleteResult;
  }

  answer(inputRequests: JsonObject, { signal }: Pick<RequestOptions, "signal"> = {}): Promise<JsonObject> {
    return answerAll(this.#conversation, "tools/call", inputRequests, signal);
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
    if (method === "tools/call") {
      const { arguments: args } = params as JsonObject;
      return this.#requests.call(question, isObject(args) ? args : {}, options);
    }
    if (CACHEABLE.has(method) && question.meta === undefined)
      return this.#requests.askCached(question, options);
    return this.#requests.ask(question, options);
  }

  listen(filter: ChangeFilter, onChange: (change: Change) => void): Promise<Subscription> {
    if (this.#legacy !== undefined) return this.#legacy.listen(filter, onChange);
    const missed = (honored: ChangeFilter) => this.#requests.missed(honored);
    return listenModern(this.#conversation, filter, onChange, missed);
  }

  /** What was not heard for a while is found out. */
  async #catchUp(): Promise<void> {
    for (const change of await this.#requests.missed(this.#legacy?.honored ?? {})) this.#legacy?.hear(change);
  }

  /** The server has forgotten us: what it kept for us is set up again, each in its own time. */
  restoreSession(): void {
    if (this.era === "legacy") {
      this.#legacy?.restore();
      this.setServerLogLevel().catch((error: Error) => tell(this.#conversation.settings.onWarning, error));
    }
    void this.#catchUp();
  }

  /** A legacy server is told once which log messages are wanted. */
  async setServerLogLevel(): Promise<void> {
    const { logLevel } = this.#conversation;
    if (logLevel !== undefined && this.capabilities.logging !== undefined) await this.setLogLevel(logLevel);
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
}
