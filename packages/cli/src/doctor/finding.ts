/** What `doctor` finds: each thing that was looked at, in steps, up to the first that failed. */

/** One thing that was looked at. */
export interface Finding {
  ok: boolean;
  /** What is wrong. */
  problem?: string;
  /** What to do about it, where the problem does not say so itself. */
  remedy?: string;
}

/** Where a value comes from. */
export type Origin = "environment" | ".env" | "mcp.json" | "default" | "unset";

export interface NodeFinding extends Finding {
  version: string;
}

export interface ModelFinding extends Finding {
  name?: string;
}

export interface ConfigurationFinding extends Finding {
  /** The files that were read; empty where there is none. */
  files: string[];
  /** What is odd in them, and ignored. */
  warnings: string[];
}

/** What is done with a server, one after another. */
export type StepName =
  | "configuration"
  | "start"
  | "connection"
  | "authorization"
  | "handshake"
  | "tools"
  | "resources"
  | "prompts"
  | "schemas";

export interface ServerFinding extends Finding {
  name: string;
  /** Where its entry stands: `mcp.json: mcpServers.github`; or `built-in`, `URL`, `command`. */
  from: string;
  /** It stands in the configuration, and is not to be used. */
  disabled?: boolean;
  /** The variables that its entry names, and where each has its value. */
  variables: Record<string, Origin>;
  /** The steps that were done. */
  steps: StepName[];
  /** The step that failed. */
  failed?: StepName;
  server?: string;
  revision?: string;
  era?: string;
  tools?: string[];
  resources?: number;
  prompts?: number;
  /** What works, and not as well as it could. */
  warnings: string[];
}

/** All of it, as `--json` prints it. */
export interface Report {
  ok: boolean;
  node: NodeFinding;
  model: ModelFinding;
  /** Whether each is set; never what it is. */
  keys: Record<string, boolean>;
  /** Where each variable that is set has its value. */
  variables: Record<string, Origin>;
  configuration: ConfigurationFinding;
  servers: ServerFinding[];
}
