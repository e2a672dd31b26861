/** What each side says it can do (schema § ClientCapabilities, ServerCapabilities). Not a closed set. */

import type { JsonObject } from "../json.ts";
import type { CacheHints, Implementation, Result } from "./base.ts";

export interface ClientCapabilities {
  experimental?: JsonObject;
  roots?: { listChanged?: boolean };
  sampling?: { context?: JsonObject; tools?: JsonObject };
  elicitation?: { form?: JsonObject; url?: JsonObject };
  extensions?: JsonObject;
}

export interface ServerCapabilities {
  experimental?: JsonObject;
  logging?: JsonObject;
  completions?: JsonObject;
  prompts?: { listChanged?: boolean };
  resources?: { subscribe?: boolean; listChanged?: boolean };
  tools?: { listChanged?: boolean };
  /** 2025-11-25 only; an extension since. */
  tasks?: { list?: JsonObject; cancel?: JsonObject; requests?: { tools?: { call?: JsonObject } } };
  extensions?: JsonObject;
}

/** The answer to `server/discover` (2026-07-28, server/discover). */
export interface DiscoverResult extends Result, CacheHints {
  supportedVersions: string[];
  capabilities: ServerCapabilities;
  instructions?: string;
}

/** The answer to `initialize` (up to 2025-11-25, basic/lifecycle). */
export interface InitializeResult extends Result {
  protocolVersion: string;
  capabilities: ServerCapabilities;
  serverInfo: Implementation;
  instructions?: string;
}
