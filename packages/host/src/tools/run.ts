/** Runs a call: a server's tool by `tools/call`, or one of the host's own. What fails becomes an outcome. */

import { type Continuation, InputRequiredError } from "@patchbay/client";
import { type JsonObject, nearest, type Progress, ProtocolError } from "@patchbay/core";
import type { OfferedTool } from "./catalog.ts";
import { failedOutcome, type OutcomeOptions, outcomeOf, type ToolOutcome } from "./outcome.ts";
import { isOpenWorld } from "./untrusted.ts";

export interface RunOptions extends OutcomeOptions {
  /** Milliseconds for one call. */
  toolTimeout: number;
  /** Stops the call: its server hears of it. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Rejects with an InputRequiredError where the server asks for input, which is then answered by who calls. */
  suspend?: boolean;
  /** Goes on with a call that was suspended. */
  continuation?: Continuation;
}

/**
 * Calls a server's tool with arguments that `prepareArguments` gave. Only cancelling makes it reject, and being
 * suspended.
 *
 * @param id the model's id of the call
 */
export async function runTool(
  id: string,
  { name, server, client, tool }: OfferedTool,
  args: JsonObject,
  { toolTimeout, signal, onProgress, suspend, continuation, ...options }: RunOptions,
): Promise<ToolOutcome> {
  try {
    const result = await client.callTool(tool.name, args, {
      timeout: toolTimeout,
      ...(signal === undefined ? {} : { signal }),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(suspend === undefined ? {} : { suspend }),
      ...(continuation === undefined ? {} : { continuation }),
    });
    return outcomeOf({ id, name }, result, { server, untrusted: isOpenWorld(tool) }, options);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof InputRequiredError) throw error;
    const text = reasonOf(error, server);
    // What a server says in an error may be as long, and from as far away, as what it says in a result.
    const untrusted = error instanceof ProtocolError && isOpenWorld(tool);
    const said = { content: [{ type: "text" as const, text }], isError: true };
    const { result: _, ...outcome } = outcomeOf({ id, name }, said, { server, untrusted }, options);
    return outcome;
  }
}

function reasonOf(error: unknown, server: string): string {
  const message = error instanceof Error ? error.message : "unknown failure";
  if (error instanceof ProtocolError) return `Error: server "${server}" refused the call: ${message}`;
  return `Error: no result from server "${server}": ${message}`;
}

/** The outcome of a call of a tool that there is not. */
export function unknownTool(call: { id: string; name: string }, known: Iterable<string>): ToolOutcome {
  const meant = nearest(call.name, known);
  const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  return failedOutcome(call, `Error: there is no tool "${call.name}".${hint}`);
}

/** The outcome of a call whose arguments were no JSON object, or did not fit. */
export function refusedCall(call: { id: string; name: string }, problem: string): ToolOutcome {
  return failedOutcome(call, `Error: ${problem}; nothing was called.`);
}

export const BROKEN_ARGUMENTS = "the arguments are not valid JSON";
