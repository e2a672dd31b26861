/** Tools: what a model may have a server do (server/tools). */

import type { JsonSchema } from "../schema/json-schema.ts";
import type { CacheHints, Icon, Meta, Page, Result } from "./base.ts";
import type { ContentBlock } from "./content.ts";
import type { TaskSupport } from "./tasks.ts";

/** Hints, not promises: a host trusts them as far as it trusts the server. */
export interface ToolAnnotations {
  title?: string;
  /** Changes nothing. Default false. */
  readOnlyHint?: boolean;
  /** May delete or overwrite. Default true. */
  destructiveHint?: boolean;
  /** Calling it again with the same arguments changes nothing more. Default false. */
  idempotentHint?: boolean;
  /** Reaches beyond the server's own domain. Default true. */
  openWorldHint?: boolean;
}

export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  /** 2025-11-25 only. */
  execution?: { taskSupport?: TaskSupport };
  icons?: Icon[];
  _meta?: Meta;
}

export interface ListToolsResult extends Result, Page, CacheHints {
  tools: Tool[];
}

export interface CallToolResult extends Result {
  content: ContentBlock[];
  /** Any JSON value; fits the tool's `outputSchema` where it has one. */
  structuredContent?: unknown;
  /** The tool ran and failed; `content` says why, for the model to read. */
  isError?: boolean;
}
