/** One call that the model wants: made, told as events, and given back as a message, or suspended by a question. */

import type { ToolMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { JsonObject, Tool } from "@patchbay/core";
import type { HostEvent } from "./events.ts";
import type { TurnContext } from "./graph.ts";
import type { DecidedCall, SuspendedCall } from "./state.ts";
import type { Toolbox } from "./toolbox.ts";
import { type CallContext, type ToolArtifact, toToolMessage } from "./tools/langchain.ts";
import { failedOutcome, type ToolOutcome } from "./tools/outcome.ts";
import { refusedCall, unknownTool } from "./tools/run.ts";
import { restoreArguments } from "./tools/schema/restore.ts";

/** Times that one call may ask for input. */
const MAX_ROUNDS = 10;

export interface CallSurroundings {
  toolbox: Toolbox;
  emit: (event: HostEvent) => void;
  config: LangGraphRunnableConfig<TurnContext>;
}

/** What came of a call. */
export type Made =
  | {
      message: ToolMessage;
      /** The tool, where it brought content from outside. */
      untrusted?: string;
    }
  | { suspended: SuspendedCall };

/**
 * Makes a call. What fails becomes a message that says so; only cancelling throws.
 *
 * @param suspended the call as it was when it asked for input, with the answers
 */
export async function makeCall(
  decided: DecidedCall,
  suspended: SuspendedCall | undefined,
  { toolbox, emit, config }: CallSurroundings,
): Promise<Made> {
  const { id, name, args } = decided;
  const found = toolbox.offer?.byName.get(name);
  const about = { id, server: found?.about.server ?? decided.server, tool: found?.about.tool.name ?? name };
  if (suspended === undefined) {
    const sent = found === undefined ? args : (restoreArguments(found.about.schema, args) as JsonObject);
    emit({ type: "tool_start", ...about, arguments: sent });
  }
  const began = performance.now();
  let outcome: ToolOutcome | undefined;
  const made = await make();
  if ("suspended" in made) return made;
  const { message } = made;
  const { result, plain = message.text } = outcome ?? {};
  emit({
    type: "tool_end",
    ...about,
    milliseconds: performance.now() - began,
    isError: message.status === "error",
    text: plain,
    ...(result === undefined ? {} : { result }),
  });
  config.configurable?.finished?.set(id, message);
  const { untrusted } = message.artifact as ToolArtifact;
  return { message, ...(untrusted ? { untrusted: `${about.server}/${about.tool}` } : {}) };

  async function make(): Promise<Made> {
    const failed = (reason: string) => give(failedOutcome({ id, name }, `Error: ${reason}`));
    const give = (failure: ToolOutcome) => ({ message: toToolMessage(failure) });
    if (decided.denied !== undefined) return give(refusedCall({ id, name }, decided.denied));
    // It may have gone, or have become another's, since it was decided on.
    if (found === undefined || (found.about.server ?? "") !== decided.server)
      return give(unknownTool({ id, name }, toolbox.offer?.byName.keys() ?? []));
    const answers = suspended?.answers;
    if (answers !== undefined && "failed" in answers) return failed(answers.failed);
    if (config.configurable?.uncertain?.delete(id) && !isRepeatable(found.about.tool)) {
      return failed(
        "the program ended while this call was running. It may have had its effect, and is not made again by itself.",
      );
    }
    const context: CallContext = {
      suspend: true,
      onProgress: (progress) => emit({ type: "tool_progress", ...about, ...progress }),
      onOutcome: (came) => {
        outcome = came;
      },
      ...(suspended !== undefined && answers !== undefined
        ? { continuation: { ...answers, requestState: suspended.requestState } }
        : {}),
    };
    try {
      return {
        message: await found.run.invoke(
          { type: "tool_call", id, name, args },
          {
            ...config,
            configurable: { ...config.configurable, ...context },
            // Each call listens to a signal of its own: Node warns of many who listen to one.
            ...(config.signal && { signal: AbortSignal.any([config.signal]) }),
          },
        ),
      };
    } catch (error) {
      config.signal?.throwIfAborted();
      if (!isInputRequired(error)) throw error;
      const rounds = (suspended?.rounds ?? 0) + 1;
      if (rounds > MAX_ROUNDS) return failed(`server "${about.server}" asks for input without end.`);
      const { inputRequests, requestState } = error;
      return { suspended: { call: decided, inputRequests, requestState, rounds } };
    }
  }
}

/** By its name: it may come from another copy of the client than ours. */
function isInputRequired(error: unknown): error is Pick<SuspendedCall, "inputRequests" | "requestState"> {
  return error instanceof Error && error.name === "InputRequiredError";
}

/** Whether a tool does nothing twice when it is called twice. */
function isRepeatable({ annotations }: Tool): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}
