/** How a request is asked: in rounds, from the cache, page by page, and with headers that repeat its parameters. */

import {
  ErrorCode,
  eraOf,
  type JsonObject,
  type Progress,
  ProtocolError,
  type Revision,
} from "@patchbay/core";
import { ResultCache } from "./cache.ts";
import type { Conversation } from "./conversation.ts";
import { InvalidResponseError } from "./errors.ts";
import type { RequestOptions } from "./options.ts";
import { afterPages } from "./pages.ts";
import type { Question } from "./question.ts";
import { arrayOf, type ItemCheck, isPrompt, isResource, isTool } from "./results.ts";
import { asksForInput, completeRounds } from "./rounds.ts";
import { isSkill, type Skill, SkillBook } from "./skills.ts";
import type { Change, ChangeFilter } from "./subscriptions/changes.ts";
import { ToolBook } from "./tool-book.ts";

export class Requests {
  readonly tools: ToolBook;
  readonly skills = new SkillBook();
  readonly #conversation: Conversation;
  /** Whether a request may be refused until the user has visited pages. */
  readonly #hasPages: boolean;
  readonly #cache: ResultCache;
  /** The lists that the application has, to see whether they have changed when nobody was told. */
  readonly #given = new Map<string, JsonObject[]>();

  constructor(conversation: Conversation, revision: Revision) {
    const { settings, transport } = conversation;
    const modern = eraOf(revision) === "modern";
    this.#conversation = conversation;
    this.#hasPages = revision === "2025-11-25";
    this.tools = new ToolBook(
      modern && transport.mirrorsParams,
      revision >= "2025-06-18",
      settings.onWarning,
    );
    this.#cache = new ResultCache(modern ? settings.maxCacheBytes : 0);
  }

  /** Something has changed in the server. */
  invalidate(change: Change): void {
    this.#cache.invalidate(change);
  }

  /** A request that the server may answer by questions. */
  async ask(question: Question, options?: RequestOptions): Promise<JsonObject> {
    const told =
      options?.onProgress === undefined ? options : { ...options, onProgress: growing(options.onProgress) };
    let result: JsonObject;
    try {
      result = await this.#conversation.request(question, told);
    } catch (error) {
      if (!this.#hasPages) throw error;
      const again = () => this.#conversation.request(question, told);
      return afterPages(this.#conversation, question.method, error, told, again);
    }
    return asksForInput(result) ? completeRounds(this.#conversation, question, told, result) : result;
  }

  /** A request whose result may be at hand; one that took answers of the application is for this time only. */
  async askCached(question: Question, options?: RequestOptions): Promise<JsonObject> {
    const { method, members, name } = question;
    const known = options?.refresh === true ? undefined : this.#cache.get(method, members);
    if (known !== undefined) return known;
    const { moment } = this.#cache;
    const result = await this.#conversation.request(question, options);
    const asked = asksForInput(result);
    const whole = asked ? await completeRounds(this.#conversation, question, options, result) : result;
    if (method === "resources/read" && name !== undefined) await this.skills.verify(name, whole);
    if (asked) return whole;
    this.#cache.put(method, members, result, moment, name);
    return result;
  }

  /** Calls a tool; what is known of it is added to the question. Where its parameters have moved to other headers, the list is fetched again, once. */
  call(question: Question, args: object, options?: RequestOptions): Promise<JsonObject> {
    const { name = "" } = question;
    question.repeatable = this.tools.isRepeatable(name);
    return this.tools.mirrors ? this.#callMirrored(question, args, options) : this.ask(question, options);
  }

  async #callMirrored(question: Question, args: object, options?: RequestOptions): Promise<JsonObject> {
    const { name = "" } = question;
    question.mirrored = this.tools.get(name)?.headersFor(args);
    try {
      return await this.ask(question, options);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.HeaderMismatch) throw error;
      await this.listTools({ ...(options?.signal && { signal: options.signal }), refresh: true });
      return this.ask({ ...question, mirrored: this.tools.get(name)?.headersFor(args) }, options);
    }
  }

  /** All tools that may be used; calls are made by what is learned here. */
  async listTools(options?: RequestOptions): Promise<JsonObject[]> {
    return this.tools.learn(await this.list("tools/list", "tools", isTool, options));
  }

  /** All skills; their files are checked by what is learned here. */
  async listSkills(options?: RequestOptions): Promise<Skill[]> {
    const skills = (await this.list("skills/list", "skills", isSkill, options)) as unknown as Skill[];
    this.skills.learn(skills);
    return skills;
  }

  /**
   * Collects a list from all its pages (server/utilities/pagination). A cursor of a page that was at hand may be void
   * by now: then all pages are fetched anew (server/utilities/caching § Interaction with Pagination).
   */
  async list(method: string, key: string, check: ItemCheck, options?: RequestOptions): Promise<JsonObject[]> {
    const all = await this.#pages(method, key, check, options).catch((error: unknown) => {
      const isVoid = error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
      if (!isVoid || options?.refresh === true || this.#cache.isEmpty) throw error;
      return this.#pages(method, key, check, { ...options, refresh: true });
    });
    this.#given.set(method, [...all]);
    return all;
  }

  /**
   * What has changed of this while nobody listened, as far as it matters: a list that the application has is looked
   * at; a resource may have changed.
   */
  async missed(filter: ChangeFilter): Promise<Change[]> {
    this.#cache.invalidate(undefined);
    const lists = [
      filter.toolsListChanged && this.#isOther("tools", "tools/list", "tools", isTool),
      filter.promptsListChanged && this.#isOther("prompts", "prompts/list", "prompts", isPrompt),
      filter.resourcesListChanged && this.#isOther("resources", "resources/list", "resources", isResource),
    ];
    const changed = (await Promise.all(lists)).filter((change) => change !== undefined && change !== false);
    return [
      ...changed,
      ...(filter.resourceSubscriptions ?? []).map((uri) => ({ kind: "resource" as const, uri })),
    ];
  }

  async #isOther(
    kind: "tools" | "prompts" | "resources",
    method: string,
    key: string,
    check: ItemCheck,
  ): Promise<Change | undefined> {
    const given = this.#given.get(method);
    if (given === undefined) return undefined;
    const now = await this.#pages(method, key, check).catch(() => undefined);
    return JSON.stringify(now) === JSON.stringify(given) ? undefined : { kind };
  }

  async #pages(
    method: string,
    key: string,
    check: ItemCheck,
    options?: RequestOptions,
  ): Promise<JsonObject[]> {
    const { maxPages, maxListed, maxListedChars } = this.#conversation.settings;
    const exceeds = (what: string, limit: string, value: number) =>
      new InvalidResponseError(`${method}: the list has more ${what} than ${limit} allows (${value})`);
    const all: JsonObject[] = [];
    const seen = new Set<string>();
    let members = "";
    let chars = 0;
    for (let page = 1; page <= maxPages; page++) {
      const result = await this.askCached({ method, members }, options);
      const items = arrayOf(method, result, key, check);
      if (all.length + items.length > maxListed) throw exceeds("items", "maxListed", maxListed);
      for (const item of items) all.push(item);
      const { nextCursor } = result;
      // An empty string is a cursor like any other; some servers write null for none.
      if (nextCursor === undefined || nextCursor === null) return all;
      if (typeof nextCursor !== "string")
        throw new InvalidResponseError(`${method}: nextCursor is not a string`);
      if (seen.has(nextCursor)) throw new InvalidResponseError(`${method}: the server repeats a cursor`);
      seen.add(nextCursor);
      // One page alone is within maxMessageBytes: only a list of several is measured.
      chars += JSON.stringify(result).length;
      if (chars > maxListedChars) throw exceeds("characters", "maxListedChars", maxListedChars);
      members = `"cursor":${JSON.stringify(nextCursor)}`;
    }
    throw exceeds("pages", "maxPages", maxPages);
  }
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
