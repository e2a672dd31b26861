/** What a host takes, and what it gives: the contract with the application around it. */

import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { Client } from "@patchbay/client";
import type { OnApproval } from "./consent/approvals.ts";
import type { ServerIdentity } from "./consent/identity.ts";
import type { ApprovalRules } from "./consent/rules.ts";
import type { TrustStore } from "./consent/trust.ts";
import type { HostEvent, Usage } from "./events.ts";
import type { ConversationStore } from "./memory/store.ts";
import type { Model } from "./models/model.ts";
import type { Question } from "./question.ts";
import type { HostConnectOptions, HostRoots, OnElicit, SamplingOptions } from "./questions/desk.ts";
import type { Catalog } from "./tools/catalog.ts";
import type { Embed } from "./tools/search.ts";
import type { Graph } from "./turn.ts";

export interface HostOptions {
  /**
   * Servers that are connected already, by the names that the configuration gives them; `add` brings more. The host
   * closes them.
   */
  clients?: Readonly<Record<string, Client>> | ReadonlyMap<string, Client>;
  /** From `chooseModel`. */
  model: Model;
  /** What the model is told first. Default: to use the tools and to make nothing up. */
  systemPrompt?: string;
  /** Which tools may run without asking, and which never. */
  rules?: ApprovalRules;
  /** Asks a person. Without it, what would be asked is denied. */
  onApproval?: OnApproval;
  /** Where approvals are kept from session to session. Default: nowhere. */
  trust?: TrustStore;
  /** Asks the user what a server wants to know. Without it, servers are told that they cannot ask. */
  onElicit?: OnElicit;
  /** How servers may use the model. False: not at all. */
  sampling?: SamplingOptions | false;
  roots?: HostRoots;
  /** Where conversations are kept: `conversationFiles`, `conversationDatabase` (SQLite), or any checkpointer of LangGraph. Default: in memory. */
  checkpoints?: ConversationStore | BaseCheckpointSaver;
  /** Makes spans of turns and of what the model is asked: from `@patchbay/host/telemetry`. Default: none. */
  telemetry?: HostTelemetry;
  /** Milliseconds for one tool call. Default 60,000. */
  toolTimeout?: number;
  /**
   * Steps in one turn; asking the model is one, making its calls another. When they are used up the model is asked to
   * conclude. Default 50.
   */
  recursionLimit?: number;
  /** Characters of one tool result, or one resource, that the model is given; the rest is cut, with a note. Default 50,000. */
  maxResultCharacters?: number;
  /** Tools that the model is given as they are; with more, it is given a search for them. Default 60. */
  maxTools?: number;
  /** The same in tokens, about. Default 20,000. */
  maxToolTokens?: number;
  /** Has the search for tools go by meaning, too. See `localEmbeddings`. */
  embed?: Embed;
  /** Characters of a conversation that the model is sent; what is older is left out. Default 400,000. */
  maxContextCharacters?: number;
}

/** Stands around turns and the model, for traces. */
export interface HostTelemetry {
  model(model: Model): Model;
  /** @param conversation its id */
  turn<T>(conversation: string, work: () => Promise<T>): Promise<T>;
}

export interface AskOptions {
  /** Stops the turn, and the tool call that is running: its server hears of it. */
  signal?: AbortSignal;
  /** Called with each step, in order. */
  onEvent?: (event: HostEvent) => void;
}

export interface AdmitOptions extends AskOptions {
  /** The application has asked the user already, or need not: a change of the server is approved by this. */
  approved?: boolean;
}

export interface Answer {
  text: string;
  /** False when the rule planner found no tool to run, or the tool that it ran failed. */
  ok: boolean;
  /** Who answered, as it is named in all output. */
  model: string;
  milliseconds: number;
  /** Missing where the provider does not say. */
  usage?: Usage;
}

export interface ConversationOptions {
  /** Takes up a conversation that is kept; without it a new one begins. */
  id?: string;
  /** False: it is in memory alone. Default: it is where `checkpoints` says. */
  keep?: boolean;
}

export interface Conversation {
  /** Names it in its store. */
  readonly id: string;
  /**
   * Asks in the context of what was said. One question at a time; one that fails leaves the conversation usable. A turn
   * that a program left unfinished is ended first. A question may bring along what servers have: the messages of a
   * prompt, the contents of resources.
   *
   * @throws HostError: `model`, `configuration`, `cancelled`, `recursion_limit`, `busy`, `closed`
   */
  ask(question: Question, options?: AskOptions): Promise<Answer>;
  /**
   * Goes on with the turn that a program left unfinished when it ended: what it waited for is asked again. A call that was
   * running is not made again, unless nothing is done twice by it. Nothing where no turn was left.
   */
  resume(options?: AskOptions): Promise<Answer | undefined>;
  /** Whether a turn was left unfinished. */
  isWaiting(): Promise<boolean>;
  /** Forgets what was said. */
  clear(): Promise<void>;
}

export interface Host {
  readonly model: Pick<Model, "label" | "name" | "provider">;
  /**
   * Whether a server may be used: ask before it is started or reached. One that is `configured` asks the user for the
   * first time, and when it is not what it was.
   */
  admit(identity: ServerIdentity, options?: AdmitOptions): Promise<boolean>;
  /** What to give `connect` for this server, so that it can ask the user and the model. */
  connectOptions(server: string): HostConnectOptions;
  /** Uses a server from now on. */
  add(server: string, client: Client): void;
  /** Does without a server from now on, and closes its client. */
  remove(server: string): Promise<void>;
  /** What the servers offer now, and what had to be left out. */
  catalog(options?: { signal?: AbortSignal }): Promise<Catalog>;
  /** One question on its own. See `Conversation.ask`. */
  ask(question: Question, options?: AskOptions): Promise<Answer>;
  conversation(options?: ConversationOptions): Conversation;
  /**
   * The loop as a compiled LangGraph graph, with the tools that there are now: for LangGraph Studio and its like, which
   * bring a checkpointer. What a turn waits for is an interrupt, of the shape `Waiting`.
   */
  graph(options?: { signal?: AbortSignal }): Promise<Graph>;
  /** Stops what is running and closes all clients; resolves when they are closed. */
  close(): Promise<void>;
}
