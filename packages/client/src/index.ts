/** Connect to any MCP server: the era and the transport are found out, not asked for. */

export type { AnswerOptions, QuestionContext, Roots } from "./answers.ts";
export type { Client } from "./client.ts";
export { connect, type StdioTarget, type Target } from "./connect.ts";
export {
  AnswerError,
  AuthorizationError,
  type AuthorizationStep,
  ConnectionError,
  type ConnectionFailure,
  InputRequiredError,
  InvalidResponseError,
  TaskCancelledError,
  type TimeLimit,
  TimeoutError,
} from "./errors.ts";
export type { Middleware, SentRequest } from "./middleware.ts";
export type { Auth, OAuthOptions, TokenContext, TokenSource } from "./oauth/options.ts";
export type { CallOptions, ConnectOptions, Continuation, RequestOptions } from "./options.ts";
export type { Skill, SkillFile } from "./skills.ts";
export type { Change, ChangeFilter, Subscription } from "./subscriptions/changes.ts";
export type { ToolTask } from "./tasks/task.ts";
export type { HttpTarget } from "./transports/http-endpoint.ts";
export type { OnMessage, WireMessage } from "./transports/observed.ts";
