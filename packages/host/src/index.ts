/** The agent: a LangGraph loop that calls tools on MCP servers. */

export { HostError, type HostErrorCode } from "./errors.ts";
export type * from "./events.ts";
export {
  type Answer,
  type AskOptions,
  type Conversation,
  createHost,
  type Host,
  type HostOptions,
  warmUp,
} from "./host.ts";
export { type ChooseOptions, chooseModel } from "./models/choose.ts";
export { LOCAL_SERVERS, type LocalServer } from "./models/local.ts";
export type { Model, ModelReply, ModelRequest } from "./models/model.ts";
export { RULE_PLANNER } from "./planner/planner.ts";
export {
  type Environment,
  type HostSettings,
  type ModelOptions,
  type ModelSettings,
  type ProviderName,
  readHostSettings,
  readModelSettings,
  Secret,
} from "./settings.ts";
export type { Catalog, OfferedTool, SetAside, Unavailable } from "./tools/catalog.ts";
