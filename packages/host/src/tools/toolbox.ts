/** The tools of connected servers for one conversation with a model, whatever the loop around it. */

import type { Client } from "@patchbay/client";
import type { Progress } from "@patchbay/core";
import { prepareArguments, readCalls, type ToolCall } from "./calls.ts";
import { discover, type SetAside, type Unavailable } from "./catalog.ts";
import { type ToolDefinitions, toolDefinitions } from "./definitions.ts";
import type { ToolFormat } from "./formats.ts";
import { type KeepOptions, keepResults } from "./kept.ts";
import type { ToolOutcome } from "./outcome.ts";
import { runOwnTool } from "./own-tools.ts";
import { type ResultMessages, resultMessages } from "./result-messages.ts";
import { BROKEN_ARGUMENTS, refusedCall, runTool, unknownTool } from "./run.ts";
import { type Embed, searchOver } from "./search.ts";
import { type SelectionLimits, selectTools } from "./selection.ts";

export interface ToolboxOptions<Format extends ToolFormat> extends SelectionLimits, KeepOptions {
  /** The connected servers, by the names that you give them. They stay yours to close. */
  clients: Readonly<Record<string, Client>> | ReadonlyMap<string, Client>;
  /** The provider that the tools are for. */
  format: Format;
  /** Milliseconds for one call. Default 60,000. */
  toolTimeout?: number;
  /** Characters of one result that the model is given at once; it may read on in a longer one. Default 50,000. */
  maxResultCharacters?: number;
  /** Has the search for tools go by meaning, too. See `localEmbeddings`. */
  embed?: Embed;
}

export interface CallOptions {
  /** Stops the call: its server hears of it, and the promise rejects. */
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export interface Toolbox<Format extends ToolFormat = ToolFormat> {
  /** Tools that the provider cannot be told of, and why. */
  readonly setAside: readonly SetAside[];
  /** Servers whose tools could not be listed. */
  readonly unavailable: readonly Unavailable[];
  /** What goes into `tools` of the next request. It may change after calls: ask each time. */
  definitions(): ToolDefinitions[Format];
  /** The calls that a whole reply asks for. */
  calls(reply: unknown): ToolCall[];
  /** Runs one. What fails becomes an outcome that tells the model so; only cancelling makes it reject. */
  call(call: ToolCall, options?: CallOptions): Promise<ToolOutcome>;
  /** The outcomes of all calls of a reply, as the messages that follow it. */
  messages(outcomes: readonly ToolOutcome[]): ResultMessages[Format];
  /** Asks the servers for their tools again. */
  refresh(options?: { signal?: AbortSignal }): Promise<void>;
}

/** Asks the servers for their tools. A server that fails is left out; `unavailable` says why. */
export async function openToolbox<Format extends ToolFormat>(
  options: ToolboxOptions<Format>,
): Promise<Toolbox<Format>> {
  const { format, toolTimeout = 60_000, maxResultCharacters = 50_000 } = options;
  const clients: ReadonlyMap<string, Client> =
    options.clients instanceof Map ? options.clients : new Map(Object.entries(options.clients));
  const results = keepResults(options);
  const found: string[] = [];
  let catalog = await discover(clients, format);
  let search = searchOver(catalog.tools, options.embed);
  const select = () => selectTools(catalog, { found, keeps: results.size > 0 }, options);

  return {
    get setAside() {
      return catalog.setAside;
    },
    get unavailable() {
      return catalog.unavailable;
    },
    definitions() {
      const { own, tools } = select();
      return toolDefinitions(format, [...own, ...tools]);
    },
    calls: (reply) => readCalls(format, reply),
    async call(call, { signal, onProgress } = {}) {
      const offered = catalog.tools.find(({ name }) => name === call.name);
      const own = offered ?? select().own.find(({ name }) => name === call.name);
      if (own === undefined)
        return unknownTool(
          call,
          catalog.tools.map(({ name }) => name),
        );
      if (call.args === undefined) return refusedCall(call, BROKEN_ARGUMENTS);
      const prepared = await prepareArguments(own, call.args);
      if ("problem" in prepared) return refusedCall(call, prepared.problem);
      if (offered === undefined) {
        const outcome = await runOwnTool(call, prepared.args, { results, search, maxResultCharacters });
        found.push(...(outcome.found ?? []));
        return outcome;
      }
      return runTool(call.id, offered, prepared.args, {
        toolTimeout,
        maxResultCharacters,
        results,
        reader: "model",
        ...(signal === undefined ? {} : { signal }),
        ...(onProgress === undefined ? {} : { onProgress }),
      });
    },
    messages: (outcomes) => resultMessages(format, outcomes),
    async refresh({ signal } = {}) {
      catalog = await discover(clients, format, signal);
      search = searchOver(catalog.tools, options.embed);
    },
  };
}
