/** What the tests ask of a server, whichever client library does the asking. */

import type { ChangeFilter } from "@patchbay/client";
import type {
  CallToolResult,
  CompleteParams,
  CompleteResult,
  CreateMessageParams,
  CreateMessageResult,
  ElicitParams,
  ElicitResult,
  GetPromptResult,
  Implementation,
  LoggingLevel,
  LogMessage,
  Progress,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Root,
  ServerCapabilities,
  Tool,
} from "@patchbay/core";

/** How a server is reached. */
export type Address =
  | { command: string; args: string[]; env: Record<string, string> }
  | { url: string; sse?: boolean };

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** Who answers what a server asks, looked at each time that it asks. */
export interface Answers {
  elicit(params: ElicitParams): ElicitResult;
  sample(params: CreateMessageParams): CreateMessageResult;
  roots: Root[];
}

export interface PeerSubscription {
  /** What the server agreed to tell of, where it says so. */
  readonly honored: ChangeFilter | undefined;
  /** Resolves with how it ended, where the library tells. */
  readonly ended?: Promise<string>;
  close(): Promise<void>;
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
  /** From now on a server may work there. */
  changeRoots(roots: Root[]): Promise<void>;
  /** `onChange` is told a URI, or which list changed. In the legacy era an SDK tells of all lists, asked or not. */
  listen(filter: ChangeFilter, onChange: (what: string) => void): Promise<PeerSubscription>;
  /** Calls a tool as a task; gives what the client was told on the way, and the result. */
  callTask?: ((name: string) => Promise<{ told: string[]; result: CallToolResult }>) | undefined;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Without answers a client says that it can be asked nothing. */
export type Connect = (address: Address, answers?: Answers) => Promise<PeerClient>;

/** The options of a call as both official SDKs spell them. */
export function sdkOptions({ signal, onProgress }: CallOptions) {
  return { ...(signal && { signal }), ...(onProgress && { onprogress: onProgress }) };
}

/** The capabilities of a client that has answers, as both official SDKs spell them. */
export const SDK_CAPABILITIES = {
  elicitation: { form: { applyDefaults: true }, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};

/** Both SDKs' clients try again after this, not after a second. */
export const SDK_RECONNECTION = {
  initialReconnectionDelay: 20,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 5,
};

/** An SDK client does not tell when the stream of what it is told unasked is open; its `fetch` sees it. */
export function watchStream(): { fetch: typeof fetch; opened: Promise<void> } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    opened,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (init?.method === "GET") open();
      return response;
    },
  };
}
