/** What the tests ask of a server, whichever client library does the asking. */

import type {
  CallToolResult,
  CompleteParams,
  CompleteResult,
  GetPromptResult,
  Implementation,
  LoggingLevel,
  LogMessage,
  Progress,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  ServerCapabilities,
  Tool,
} from "@patchbay/core";

/** How a server is reached. */
export type Address = { command: string; args: string[]; env: Record<string, string> } | { url: string };

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface ResourcePage {
  resources: Resource[];
  nextCursor?: string;
}

/** A connected client. What goes wrong rejects with the library's own error; those of the server have a `code`. */
export interface PeerClient {
  readonly revision: string | undefined;
  readonly server: Implementation | undefined;
  readonly capabilities: ServerCapabilities | undefined;
  readonly instructions: string | undefined;
  listTools(): Promise<Tool[]>;
  listResources(): Promise<Resource[]>;
  /** One page, as the server sent it. */
  resourcePage(cursor?: string): Promise<ResourcePage>;
  listResourceTemplates(): Promise<ResourceTemplate[]>;
  listPrompts(): Promise<Prompt[]>;
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  readResource(uri: string): Promise<ReadResourceResult>;
  getPrompt(name: string, args?: Record<string, string>): Promise<GetPromptResult>;
  complete(params: CompleteParams): Promise<CompleteResult>;
  /** From now on `listener` is told what is logged at this level and above. */
  listenToLogs(level: LoggingLevel, listener: (message: LogMessage) => void): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type Connect = (address: Address) => Promise<PeerClient>;

/** The options of a call as both official SDKs spell them. */
export function sdkOptions({ signal, onProgress }: CallOptions) {
  return { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) };
}
