/** What may be said of a server besides its name: what it offers, keeps and bounds. */

import type { CacheHints, JsonObject } from "@patchbay/core";
import type { ResumptionLimits } from "./modern/resumption.ts";
import type { UsedStates } from "./modern/used-states.ts";
import type { Rates } from "./rates.ts";
import type { TasksOptions } from "./tasks/tasks.ts";

export interface McpServerOptions {
  /** How to use the server, for a model to read. */
  instructions?: string;
  /** Entries on one page of a list. Default 1000. */
  pageSize?: number;
  /** What it offers even while there is none of it, because it may come at run time. */
  offers?: readonly ("tools" | "resources" | "prompts")[];
  /** Extensions that it speaks, by identifier, with their settings (basic/versioning § Extension Negotiation). */
  extensions?: JsonObject;
  /** Capabilities that no specification knows. */
  experimental?: JsonObject;
  /** How long clients may keep lists, and for whom. Default: not at all, the same for everybody. */
  cache?: CacheHints;
  /**
   * Secrets that seal what a suspended request knows, at least 32 characters each: the first seals, all open.
   * Instances that serve the same clients need the same. Default: one of this process alone.
   */
  stateSecrets?: readonly string[];
  /** Remembers which states were used, for tools that go on `once`. Default: this process's memory. */
  usedStates?: UsedStates;
  /** Bounds on requests that ask their client. */
  resumption?: Partial<ResumptionLimits>;
  /**
   * Resources that are watched for legacy sessions, which may end without a word: beyond, those that were subscribed to
   * longest ago are let go. Default 1000.
   */
  maxWatches?: number;
  /** How often each who asks may call, complete and look at tasks. */
  rates?: Rates;
  /** Where tasks live, how long, and their bounds. */
  tasks?: TasksOptions;
  /**
   * Takes the failures whose details are not told to clients: bugs in handlers, errors of the system.
   * Default: `console.error`.
   *
   * @param where the tool or method that failed
   */
  onError?: (error: unknown, where: string) => void;
}
