/** The agent: a LangGraph loop that calls tools on MCP servers. */

export type {
  ApprovalAnswer,
  ApprovalRequest,
  OnApproval,
  SamplingApproval,
  ServerApproval,
  ToolApproval,
  ToolChange,
  ToolsApproval,
} from "./consent/approvals.ts";
export type { ServerIdentity } from "./consent/identity.ts";
export { type ApprovalRules, type Called, readRules, type Verdict } from "./consent/rules.ts";
export {
  fileTrust,
  memoryTrust,
  type PinnedTool,
  type TrustedServer,
  type TrustStore,
} from "./consent/trust.ts";
export { HostError, type HostErrorCode } from "./errors.ts";
export type * from "./events.ts";
export { createHost, warmUp } from "./host.ts";
export { type ConversationFilesOptions, conversationFiles } from "./memory/file-store.ts";
export {
  type ConversationDatabase,
  type ConversationDatabaseOptions,
  conversationDatabase,
} from "./memory/sqlite-store.ts";
export type { ConversationInfo, ConversationStore } from "./memory/store.ts";
export { type ChooseOptions, chooseModel } from "./models/choose.ts";
export { LOCAL_SERVERS, type LocalServer } from "./models/local.ts";
export type { Model, ModelReply, ModelRequest, ReplySettings } from "./models/model.ts";
export type {
  Answer,
  AskOptions,
  Conversation,
  ConversationOptions,
  Host,
  HostOptions,
  HostTelemetry,
} from "./options.ts";
export { RULE_PLANNER } from "./planner/planner.ts";
export type { AskedMessage, Question } from "./question.ts";
export type {
  AskedBy,
  HostConnectOptions,
  HostRoots,
  OnElicit,
  SamplingOptions,
} from "./questions/desk.ts";
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
