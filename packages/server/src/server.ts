/** McpServer: name it, give it tools, resources and prompts. It is a definition; it holds nothing of who uses it. */

import type {
  CacheHints,
  Channel,
  ChannelServer,
  HasTools,
  Implementation,
  JsonObject,
  MirroredParam,
  Parsed,
  Result,
  Schema,
  ServerCapabilities,
  ToolTypeOf,
} from "@patchbay/core";
import { isPrefixedName, META, TASKS_EXTENSION } from "@patchbay/core";
import { type NeededScopes, neededScopes } from "./auth/needed-scopes.ts";
import { Catalog } from "./catalog.ts";
import { Changes } from "./changes.ts";
import { Context } from "./context.ts";
import { dispatch, type Reply } from "./dispatch.ts";
import type { Exchange } from "./exchange.ts";
import { cacheHints } from "./features/cache-hints.ts";
import { type PromptDefinition, type PromptHandler, promptEntry } from "./features/prompts.ts";
import {
  isHidden,
  type ResourceDefinition,
  type ResourceReader,
  type ResourceTemplateDefinition,
  type ResourceTemplateReader,
  resourceEntry,
  resourceTemplateEntry,
  type Watch,
  watchOf,
} from "./features/resources.ts";
import { type ToolDefinition, type ToolHandler, toolEntry } from "./features/tools.ts";
import { type IncludeOptions, include } from "./include.ts";
import { type Middleware, runThrough } from "./middleware.ts";
import { DEFAULT_RESUMPTION_LIMITS, type ResumptionLimits } from "./modern/resumption.ts";
import { memoryUsedStates, type UsedStates } from "./modern/used-states.ts";
import { type Observer, together } from "./observer.ts";
import type { McpServerOptions } from "./options.ts";
import { type RateGates, rateGates } from "./rates.ts";
import { createSealer, type Sealer } from "./sealing.ts";
import type { TaskStore } from "./tasks/store.ts";
import { Tasks } from "./tasks/tasks.ts";
import { serveChannel } from "./transports/channel.ts";
import { Watches } from "./watches.ts";

/** Answers a method of an extension's or your own. */
export type MethodHandler = (params: JsonObject, context: Context) => Result | Promise<Result>;

/**
 * One server, defined once and shared by every connection, session and request.
 *
 * @example
 * ```ts
 * const server = new McpServer({ name: "greeter", version: "1.0.0" });
 * server.tool("greet", { input: z.object({ name: z.string() }) }, ({ name }) => `Hello, ${name}!`);
 * await serveStdio(server);
 * ```
 */
export class McpServer<Tools = unknown> implements ChannelServer, HasTools<Tools> {
  /** Which tools it has, for the types of a client. Never set. */
  declare readonly "~tools"?: Tools;

  readonly info: Implementation;
  readonly instructions: string | undefined;
  /** How long its lists may be kept, where they are the same for all and where they are one user's. */
  readonly #anybodys: Required<CacheHints>;
  readonly #ones: Required<CacheHints>;
  /** The `_meta` member that names this server in each modern result, as JSON text. */
  readonly serverMeta: string;
  readonly resumption: ResumptionLimits;
  /** What changes in it while it runs. */
  readonly changes = new Changes();
  #usedStates: UsedStates;
  readonly #hasUsedStates: boolean;
  #sharesUsedStates: boolean;
  /** What sessions of the legacy era have watched for them. */
  readonly watches: Watches;
  readonly tasks: Tasks;
  readonly rates: RateGates;
  readonly #catalog: Catalog;
  readonly #middleware: Middleware[] = [];
  readonly #methods = new Map<string, MethodHandler>();
  readonly #declared: ServerCapabilities;
  #sealer: Sealer;
  readonly #hasSecrets: boolean;
  readonly #onError: ((error: unknown, where: string) => void) | undefined;
  readonly #observers: Observer[] = [];
  #observer: Observer | undefined;

  constructor(info: Implementation, options: McpServerOptions = {}) {
    const { pageSize = 1000 } = options;
    if (!Number.isInteger(pageSize) || pageSize < 1)
      throw new Error(`pageSize must be a positive integer, not ${pageSize}`);
    this.info = info;
    this.instructions = options.instructions;
    this.#anybodys = cacheHints({ cacheScope: "public", ...options.cache });
    this.#ones = cacheHints({ cacheScope: "private", ...options.cache });
    this.serverMeta = `${JSON.stringify(META.serverInfo)}:${JSON.stringify(info)}`;
    this.#sealer = createSealer("state", options.stateSecrets);
    this.#hasSecrets = options.stateSecrets !== undefined;
    this.resumption = { ...DEFAULT_RESUMPTION_LIMITS, ...options.resumption };
    this.#usedStates = options.usedStates ?? memoryUsedStates();
    this.#hasUsedStates = options.usedStates !== undefined;
    this.#sharesUsedStates = this.#hasUsedStates;
    this.#catalog = new Catalog(pageSize, options.offers ?? [], this.changes);
    const { extensions, experimental } = options;
    for (const name of Object.keys(extensions ?? {})) {
      if (!isPrefixedName(name))
        throw new Error(`Extension "${name}": a name has a prefix, such as "com.example/${name}"`);
    }
    this.#declared = { ...(extensions && { extensions }), ...(experimental && { experimental }) };
    this.watches = new Watches(options.maxWatches);
    this.rates = rateGates(options.rates ?? {});
    this.#onError = options.onError;
    this.tasks = new Tasks(options.tasks ?? {}, this.report);
  }

  /**
   * Offers a tool (server/tools).
   *
   * The handler gets its arguments as the input schema parsed them. It returns what the output schema says,
   * a string, content blocks, or a whole result. An `Error` that it throws becomes a result with `isError`
   * and the error's message, for the model to read; a `ProtocolError` becomes a JSON-RPC error. Messages
   * of bugs (`TypeError` and its like) and of the system are kept from the client and go to `onError`.
   *
   * @throws Error when the name is taken or a schema cannot be used
   */
  tool<const Name extends string, Input extends Schema = never, Output extends Schema = never>(
    name: Name,
    definition: ToolDefinition<Input, Output>,
    handler: ToolHandler<
      [Input] extends [never] ? Record<string, never> : Parsed<Input>,
      [Output] extends [never] ? never : Parsed<Output>
    >,
  ): McpServer<Tools & Record<Name, ToolTypeOf<Input, Output>>> {
    if (name.length < 1 || name.length > 128)
      throw new Error(`Tool "${name}": a name has 1 to 128 characters`);
    const entry = toolEntry(name, definition, handler as ToolHandler<Parsed<Input>, Parsed<Output>>);
    this.#catalog.tools.add(name, entry);
    // What was offered once stays offered: a client may have been told so.
    this.tasks.offered ||= entry.task !== undefined;
    // Through a named type of our own the compiler gives up on a chain of 100 tools; so it is spelled out.
    return this as unknown as McpServer<Tools & Record<Name, ToolTypeOf<Input, Output>>>;
  }

  /**
   * Offers a resource (server/resources).
   *
   * @throws Error when the URI is not absolute or is taken
   */
  resource(uri: string, definition: ResourceDefinition, read: ResourceReader): this {
    this.#catalog.resources.add(uri, resourceEntry(uri, definition, read));
    return this;
  }

  /**
   * Offers the resources whose URIs a template makes (server/resources § Resource Templates).
   *
   * @param uriTemplate with `{name}`, which holds no `/`, and `{+name}`, which holds anything
   */
  resourceTemplate(
    uriTemplate: string,
    definition: ResourceTemplateDefinition,
    read: ResourceTemplateReader,
  ): this {
    this.#catalog.resourceTemplates.add(uriTemplate, resourceTemplateEntry(uriTemplate, definition, read));
    return this;
  }

  /** Offers a prompt (server/prompts). */
  prompt(name: string, definition: PromptDefinition, handler: PromptHandler): this {
    this.#catalog.prompts.add(name, promptEntry(name, definition, handler));
    return this;
  }

  /**
   * Answers a method that the protocol does not have: an extension's, or your own.
   *
   * @param method as it goes over the wire, such as `acme/search`
   * @throws Error when it is answered already
   */
  method(method: string, handler: MethodHandler): this {
    if (this.#methods.has(method)) throw new Error(`The method "${method}" is answered already`);
    this.#methods.set(method, handler);
    return this;
  }

  /** Puts middleware around each request from now on; the first that is added is the outermost. */
  use(middleware: Middleware): this {
    this.#middleware.push(middleware);
    return this;
  }

  /**
   * Offers all that another server does too; what changes there later changes here. Calls are this server's: its rates,
   * its middleware, its stores.
   *
   * @throws Error when a name or URI is taken, or the other has middleware, which would not be passed
   */
  include(server: McpServer, { prefix = "" }: IncludeOptions = {}): this {
    if (server.#middleware.length > 0)
      throw new Error(`"${server.info.name}" has middleware: put it on the server that includes it`);
    include(server.#catalog, this.#catalog, prefix, server.changes, (change) => this.changes.publish(change));
    for (const [method, handler] of server.#methods) this.method(method, handler);
    const offerTasks = () => {
      this.tasks.offered ||= server.tasks.offered;
    };
    offerTasks();
    server.changes.subscribe(offerTasks);
    return this;
  }

  /** Withdraws a tool; false when there was none. Clients that listen are told, as of all changes. */
  removeTool(name: string): boolean {
    return this.#catalog.tools.remove(name);
  }

  /** Withdraws a resource; false when there was none. */
  removeResource(uri: string): boolean {
    return this.#catalog.resources.remove(uri);
  }

  /** Withdraws a resource template; false when there was none. */
  removeResourceTemplate(uriTemplate: string): boolean {
    return this.#catalog.resourceTemplates.remove(uriTemplate);
  }

  /** Withdraws a prompt; false when there was none. */
  removePrompt(name: string): boolean {
    return this.#catalog.prompts.remove(name);
  }

  /** Tells the clients that subscribed to a resource that it reads differently now. */
  resourceUpdated(uri: string): void {
    this.changes.publish({ kind: "resource", uri });
  }

  /**
   * Tells the client whose user was sent to a page that they are done there, where its revision has words for that
   * (2025-11-25). Over HTTP it hears of it on its GET stream.
   *
   * @param elicitationId as `ctx.elicitationId()` gave it, on whatever instance
   */
  elicitationComplete(elicitationId: string): void {
    this.changes.publish({ kind: "visit", elicitationId });
  }

  /** Whether a resource is there, but not for who asks. */
  hides(uri: string, exchange: Exchange): boolean {
    const { resources, resourceTemplates } = this.#catalog;
    return isHidden(resources, resourceTemplates, uri, exchange);
  }

  /** The scopes that a request needs, as far as they do not depend on who asks; and what needs them. */
  neededScopes(method: string, params: JsonObject): NeededScopes | undefined {
    return neededScopes(this.#catalog, method, params);
  }

  /** What watches a resource, where it is watched for those who subscribe to it. */
  watchOf(uri: string, exchange: Exchange): Watch | undefined {
    const { resources, resourceTemplates } = this.#catalog;
    return watchOf(resources, resourceTemplates, uri, exchange);
  }

  /** The parameters of a tool that HTTP headers repeat; nothing for most tools. */
  mirroredParams(tool: unknown): readonly MirroredParam[] | undefined {
    return this.#catalog.tools.find(tool as string)?.mirrored;
  }

  /** Where a request's state is marked as used; nothing where it may be taken up again. */
  goesOnOnce(method: string, { name }: JsonObject): UsedStates | undefined {
    const once = method === "tools/call" && this.#catalog.tools.find(name as string)?.once;
    return once === true ? this.#usedStates : undefined;
  }

  /** What it can do, by what it has been given. */
  get capabilities(): ServerCapabilities {
    const capabilities = { ...this.#catalog.capabilities(), ...this.#declared };
    if (!this.tasks.offered) return capabilities;
    return { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} } };
  }

  /** Serves one connection, until it closes. Any number may be served at once. */
  serve(channel: Channel): void {
    serveChannel(this, channel);
  }

  /**
   * Carries out a request that a transport has taken in.
   *
   * @throws ProtocolError when the request is wrong; anything else when the work failed
   */
  handle(method: string, params: JsonObject, exchange: Exchange): Reply | Promise<Reply> {
    const own = this.#methods.get(method);
    if (own !== undefined) return own(params, new Context(exchange, params));
    return dispatch(this.#catalog, method, params, exchange, this.report, this.rates);
  }

  /** Carries a request through the middleware to the work. */
  through(
    method: string,
    params: JsonObject,
    exchange: Exchange,
    work: () => Reply | Promise<Reply>,
  ): Reply | Promise<Reply> {
    if (this.#middleware.length === 0) return work();
    return runThrough(this.#middleware, { method, params, exchange }, work);
  }

  /**
   * How long what it says of itself may be kept, and by whom. What took a token is for whoever has one, unless the
   * server says that it is for all (server/utilities/caching § Security Considerations).
   */
  cacheFor({ access }: Pick<Exchange, "access">): Required<CacheHints> {
    return access?.principal === undefined ? this.#anybodys : this.#ones;
  }

  /** Where instances mark what was used, if they share such a place. */
  get sharedUsedStates(): UsedStates | undefined {
    return this.#sharesUsedStates ? this.#usedStates : undefined;
  }

  /** Seals what suspended requests know. */
  get sealer(): Sealer {
    return this.#sealer;
  }

  /**
   * For whoever serves it: the `stateSecrets` that its instances share, unless it was defined with its own.
   *
   * @throws Error when a secret is shorter than 32 characters
   */
  sealWith(secrets: readonly string[]): void {
    if (!this.#hasSecrets) this.#sealer = createSealer("state", secrets);
  }

  /** For whoever serves it: what its instances share, where it was not defined with places of its own. Before it is served. */
  keepIn({ tasks, usedStates }: { tasks: TaskStore; usedStates: UsedStates }): void {
    this.tasks.keepIn(tasks);
    if (!this.#hasUsedStates) this.#usedStates = usedStates;
    this.#sharesUsedStates = true;
  }

  /** Who looks on, if anybody does. */
  get observer(): Observer | undefined {
    return this.#observer;
  }

  /**
   * Lets somebody look on, whatever it is served over.
   *
   * @returns ends it
   */
  observe(observer: Observer): () => void {
    this.#observers.push(observer);
    this.#observer = together(this.#observers);
    return () => {
      const index = this.#observers.indexOf(observer);
      if (index !== -1) this.#observers.splice(index, 1);
      this.#observer = together(this.#observers);
    };
  }

  /** Tells the operator of a failure whose details the client is not told. */
  readonly report = (error: unknown, where: string): void => {
    this.#onError?.(error, where);
    if (this.#observer?.error !== undefined) this.#observer.error(error, where);
    else if (this.#onError === undefined) console.error(`[${this.info.name}] ${where}:`, error);
  };
}
