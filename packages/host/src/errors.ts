/** The errors a front end shows: one sentence each, without secrets, stacks or a provider's raw text. */

/**
 * - `configuration`: a variable or option is wrong; `variable` names it
 * - `model`: the model's provider refused, failed or could not be reached
 * - `recursion_limit`: the model kept asking for tools
 * - `cancelled`: the caller's signal stopped the turn
 * - `busy`: the conversation is still answering
 * - `closed`: the host was closed
 */
export type HostErrorCode = "configuration" | "model" | "recursion_limit" | "cancelled" | "busy" | "closed";

export class HostError extends Error {
  readonly code: HostErrorCode;
  /** The environment variable to change, where one is to blame. */
  readonly variable: string | undefined;

  constructor(code: HostErrorCode, message: string, variable?: string) {
    super(message);
    this.name = "HostError";
    this.code = code;
    this.variable = variable;
  }
}
