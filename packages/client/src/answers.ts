/** What a server may ask of the application, and the answers, checked before they are given: the same in both eras. */

import {
  type ClientCapabilities,
  type CreateMessageParams,
  type CreateMessageResult,
  type ElicitParams,
  type ElicitResult,
  type Era,
  ErrorCode,
  type Implementation,
  type InputRequest,
  isObject,
  type JsonObject,
  missingCapability,
  ProtocolError,
  type Root,
  samplingFault,
  TASKS_EXTENSION,
} from "@patchbay/core";
import { AnswerError, readable } from "./errors.ts";
import { Pages } from "./pages.ts";

/** What a callback is given besides the question. */
export interface QuestionContext {
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
  /** Who asks, by its command or URL: users must be shown it (client/elicitation § User Interaction Model). */
  readonly server: string;
  /** Who the server says it is. Not verified. */
  readonly serverInfo: Implementation | undefined;
}

type Callback<Params, Result> = (params: Params, context: QuestionContext) => Result | Promise<Result>;

/** Where a server may work: a list, or who gives it. */
export type Roots =
  | readonly Root[]
  | ((context: QuestionContext) => readonly Root[] | Promise<readonly Root[]>);

/** Who answers a server. What is given is declared to it; a server may ask for nothing else. */
export interface AnswerOptions {
  /**
   * Asks the user to fill in a form, or to visit a page (client/elicitation). Fields that `content` lacks get their
   * defaults. A page must not be opened before the user has seen its whole URL and agreed.
   */
  onElicit?: Callback<ElicitParams, ElicitResult>;
  /** What `onElicit` can do. Default both. */
  elicitModes?: readonly ("form" | "url")[];
  /** Asks the application's model (client/sampling). The user should be able to say no. */
  onSample?: Callback<CreateMessageParams, CreateMessageResult>;
  /** Whether `onSample` passes `tools` on to its model. Default true. */
  sampleTools?: boolean;
  /** Where a server may work: `file:` URIs (client/roots). */
  roots?: Roots;
  /**
   * Takes tasks: a call of a tool may go on by itself, and is followed to its result (the extension
   * io.modelcontextprotocol/tasks, and the tasks of 2025-11-25). Default false.
   */
  tasks?: boolean;
  /** Extensions that the application supports, by their identifiers, with their settings: declared as they are. */
  extensions?: JsonObject;
}

/** A question that can be asked: it was declared, and it is well formed. */
export type Ask = (context: QuestionContext) => Promise<JsonObject>;

/** The application's answers. */
export class Answers {
  /** Pages that the user was asked to visit. */
  readonly pages = new Pages();
  #options: AnswerOptions;

  constructor(options: AnswerOptions) {
    this.#options = options;
    if (Array.isArray(options.roots)) checkRoots(options.roots);
  }

  /** From now on these are the roots. */
  setRoots(roots: Roots): void {
    if (typeof roots !== "function") checkRoots(roots);
    this.#options = { ...this.#options, roots };
  }

  /** What is declared to a server (schema § ClientCapabilities). */
  capabilities(era: Era): ClientCapabilities {
    const { onElicit, elicitModes = ["form", "url"], onSample, sampleTools = true } = this.#options;
    const { roots, tasks } = this.#options;
    // Who calls as a task declares nothing in 2025-11-25.
    const ours = tasks === true && era === "modern" ? { [TASKS_EXTENSION]: {} } : undefined;
    const extensions =
      ours === undefined ? this.#options.extensions : { ...ours, ...this.#options.extensions };
    return {
      ...(onElicit && { elicitation: Object.fromEntries(elicitModes.map((mode) => [mode, {}])) }),
      ...(onSample && { sampling: sampleTools ? { tools: {} } : {} }),
      // Since 2026-07-28 nobody is told that roots changed: they are asked for when they are needed.
      ...(roots && { roots: era === "legacy" ? { listChanged: true } : {} }),
      ...(extensions && { extensions }),
    };
  }

  /**
   * Looks at a question before anybody is asked.
   *
   * @throws ProtocolError when it was not declared (−32601; −32602 for a mode of it), or is malformed (−32602)
   */
  async prepare(method: string, params: JsonObject): Promise<Ask> {
    const { onElicit, onSample, roots } = this.#options;
    const request = { method, params } as unknown as InputRequest;
    switch (request.method) {
      case "elicitation/create":
        if (onElicit === undefined) break;
        return this.#elicit(request.params, onElicit);
      case "sampling/createMessage":
        if (onSample === undefined) break;
        return this.#sample(request.params, onSample);
      case "roots/list":
        if (roots === undefined) break;
        return async (context) => {
          const list = typeof roots === "function" ? await roots(context) : roots;
          checkRoots(list);
          return { roots: list as unknown as JsonObject[] };
        };
    }
    const what = `Method not found: ${readable(method, 100)}; this client declared no capability for it`;
    throw new ProtocolError(ErrorCode.MethodNotFound, what);
  }

  async #elicit(params: ElicitParams, onElicit: NonNullable<AnswerOptions["onElicit"]>): Promise<Ask> {
    const { mode = "form", message } = params;
    if (mode !== "form" && mode !== "url") {
      throw invalid(`no mode of elicitation is called ${readable(JSON.stringify(mode), 40)}`);
    }
    this.#declared({ method: "elicitation/create", params });
    if (typeof message !== "string") throw invalid('"message" must be a string');
    if (params.mode === "url" && !isWebUrl(params.url))
      throw invalid('"url" must be a URL of https: or http:');
    // Loaded for whom a server asks: the compiler of its schema takes its time.
    const form = params.mode === "url" ? undefined : (await import("./forms.ts")).readForm(params);
    const pageId = params.mode === "url" ? params.elicitationId : undefined;
    return async (context) => {
      this.pages.open(pageId);
      // Forms of older servers do not say that they are forms: the application is not to care.
      const asked = params.mode === "url" ? params : { ...params, mode: "form" as const };
      const answer = await onElicit(asked, context);
      const action = isObject(answer) ? answer.action : undefined;
      if (action !== "accept") this.pages.forget(pageId);
      if (action !== "accept" && action !== "decline" && action !== "cancel") {
        throw new AnswerError('elicitation/create: the "action" must be "accept", "decline" or "cancel"');
      }
      const { _meta } = answer;
      return {
        action,
        ...(action === "accept" && form !== undefined && { content: form(answer.content) }),
        ...(_meta !== undefined && { _meta }),
      };
    };
  }

  #sample(params: CreateMessageParams, onSample: NonNullable<AnswerOptions["onSample"]>): Ask {
    this.#declared({ method: "sampling/createMessage", params });
    const { messages, maxTokens } = params;
    if (!Array.isArray(messages) || !messages.every(isMessage)) {
      throw invalid('"messages" must be a list of messages, each with a "role" and "content"');
    }
    if (typeof maxTokens !== "number") throw invalid('"maxTokens" must be a number');
    const fault = samplingFault(messages);
    if (fault !== undefined) throw invalid(fault);
    return async (context) => {
      const answer = (await onSample(params, context)) as unknown;
      if (!isMessage(answer) || typeof answer.model !== "string") {
        throw new AnswerError('sampling/createMessage: the answer has a "role", "content" and "model"');
      }
      return answer;
    };
  }

  /** @throws ProtocolError (−32602) for what a capability that was declared does not include */
  #declared(request: InputRequest): void {
    const missing = missingCapability(request, this.capabilities("modern"));
    if (missing === undefined) return;
    throw invalid(`this client did not declare ${JSON.stringify(missing)}`);
  }
}

function isMessage(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  const { content } = value;
  if (!(Array.isArray(content) ? content.every(isObject) : isObject(content))) return false;
  return value.role === "user" || value.role === "assistant";
}

/** Other schemes run programs, or show files. */
function isWebUrl(url: unknown): boolean {
  return typeof url === "string" && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function checkRoots(roots: readonly Root[]): void {
  if (Array.isArray(roots) && roots.every((root) => isObject(root) && isFileUri(root.uri))) return;
  throw new AnswerError('roots: each root has a "uri", which begins with file://');
}

function isFileUri(uri: unknown): boolean {
  return typeof uri === "string" && /^file:\/\//i.test(uri);
}

function invalid(what: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `Invalid params: ${what}`);
}
