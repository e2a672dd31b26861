/** Function calling for who has a loop of their own: tools as a provider takes them, its calls, and their results. */

export { type PreparedArguments, prepareArguments, readCalls, type ToolCall } from "./calls.ts";
export {
  type Catalog,
  discover,
  type FoundTool,
  type OfferedTool,
  offer,
  type SetAside,
  type Unavailable,
} from "./catalog.ts";
export {
  type AnthropicTool,
  type Definable,
  descriptionOf,
  estimateTokens,
  type GeminiTool,
  type OpenAIChatTool,
  type OpenAIResponsesTool,
  type ToolDefinitions,
  toolDefinitions,
} from "./definitions.ts";
export { FORMATS, type FormatRules, type NameRules, TOOL_FORMATS, type ToolFormat } from "./formats.ts";
export { type KeepOptions, type KeptResults, keepResults } from "./kept.ts";
export { type NamingOptions, providerNames, type ToolAddress } from "./names.ts";
export { type OutcomeOptions, outcomeOf, type ToolOutcome } from "./outcome.ts";
export { type ModelImage, type ReadableResult, type Reader, readResult } from "./result.ts";
export type * from "./result-messages.ts";
export { resultMessages } from "./result-messages.ts";
export { type RunOptions, runTool } from "./run.ts";
export { type Lowered, lowerSchema, type Refused } from "./schema/lower.ts";
export { restoreArguments } from "./schema/restore.ts";
export { type Embed, localEmbeddings, searchOver, type ToolSearch } from "./search.ts";
export { type Selection, type SelectionLimits, selectTools } from "./selection.ts";
export { type CallOptions, openToolbox, type Toolbox, type ToolboxOptions } from "./toolbox.ts";
export { delimit, isOpenWorld } from "./untrusted.ts";
