/** Define an MCP server once. How to serve it: `@patchbay/server/stdio`, `@patchbay/server/http`, or `serve()` in memory. */

export {
  ErrorCode,
  ProtocolError,
  type RequiredVisit,
  ResourceNotFoundError,
  UrlElicitationRequiredError,
} from "@patchbay/core";
export type { Context } from "./context.ts";
export type { Reply } from "./dispatch.ts";
export { CancelledError, type ClientDescription, type Exchange } from "./exchange.ts";
export type { Complete } from "./features/completion.ts";
export type { PromptDefinition, PromptHandler, PromptReturn } from "./features/prompts.ts";
export type {
  ResourceDefinition,
  ResourceReader,
  ResourceReturn,
  ResourceTemplateDefinition,
  ResourceTemplateReader,
  Watch,
} from "./features/resources.ts";
export type { ToolDefinition, ToolHandler, ToolReturn } from "./features/tools.ts";
export type { IncludeOptions } from "./include.ts";
export type { Enabled } from "./listing.ts";
export type { HandledRequest, Middleware } from "./middleware.ts";
export { memoryUsedStates, type UsedStates } from "./modern/used-states.ts";
export type { Observer, Outcome } from "./observer.ts";
export type { McpServerOptions } from "./options.ts";
export type { Rate, Rates } from "./rates.ts";
export { McpServer, type MethodHandler } from "./server.ts";
export { type MemoryTasksOptions, memoryTasks } from "./tasks/memory.ts";
export type { TaskInput, TaskRecord, TaskStore } from "./tasks/store.ts";
export type { TaskOptions, TasksOptions } from "./tasks/tasks.ts";
export type { Variables } from "./uri-template.ts";
