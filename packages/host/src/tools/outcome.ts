/** What came of a call, ready for the model: cut where it is long, delimited where it is not to be trusted. */

import type { CallToolResult } from "@patchbay/core";
import { type KeptResults, passage } from "./kept.ts";
import { READ_MORE } from "./own-names.ts";
import { type ModelImage, type Reader, readResult } from "./result.ts";
import { delimit, invisibleNote } from "./untrusted.ts";

export interface ToolOutcome {
  /** The call's. */
  id: string;
  /** What the model calls the tool. */
  name: string;
  /** What the model is given. */
  text: string;
  /** The same for people: without marks around it. */
  plain: string;
  /** What goes beside the text, where the provider takes images. */
  images: ModelImage[];
  isError: boolean;
  /** It may hold what anybody wrote (`isOpenWorld`). */
  untrusted: boolean;
  /** Names the whole of a result that was cut, for `read_more`. */
  handle?: string;
  /** The names of tools that a search has found: they can be called from now on. */
  found?: string[];
  /** As the server gave it; missing where the call gave none. */
  result?: CallToolResult;
}

export interface OutcomeOptions {
  /** Characters of text that the model is given at once. */
  maxResultCharacters: number;
  /** Where the whole of a longer text is kept. */
  results: KeptResults;
  /** Whom the text is for. */
  reader: Reader;
}

/** The outcome of a call that gave a result. */
export function outcomeOf(
  call: { id: string; name: string },
  result: CallToolResult,
  source: { server: string; untrusted: boolean },
  { maxResultCharacters, results, reader }: OutcomeOptions,
): ToolOutcome {
  const { text: whole, images } = readResult(result, reader);
  const isError = result.isError === true;
  const untrusted = source.untrusted && reader === "model";
  const handle =
    whole.length > maxResultCharacters
      ? results.keep({ text: whole, server: source.server, untrusted })
      : undefined;
  const first = passage(whole, 0, maxResultCharacters);
  const notes = [
    reader === "model" ? invisibleNote(first.text) : undefined,
    first.to < whole.length ? cutNote(first.to, whole.length, maxResultCharacters, handle) : undefined,
  ].filter((note) => note !== undefined);
  // Not every provider can mark an error; the text always does.
  const prefix = isError && !/^error\b/i.test(whole) ? "Error: " : "";
  const say = (text: string) => [prefix + text, ...notes].join("\n");
  const plain = say(first.text);
  return {
    ...call,
    text: untrusted ? say(delimit(first.text, source.server)) : plain,
    plain,
    images,
    isError,
    untrusted,
    ...(handle === undefined ? {} : { handle }),
    result,
  };
}

/** The outcome of a call that gave no result, for a reason of ours. */
export function failedOutcome(call: { id: string; name: string }, reason: string): ToolOutcome {
  const { id, name } = call;
  return { id, name, text: reason, plain: reason, images: [], isError: true, untrusted: false };
}

/** The outcome of a tool of the host's own. */
export function ownOutcome(
  call: { id: string; name: string },
  text: string,
  more: Partial<Pick<ToolOutcome, "isError" | "untrusted" | "found">> = {},
): ToolOutcome {
  const { id, name } = call;
  return { id, name, text, plain: text, images: [], isError: false, untrusted: false, ...more };
}

function cutNote(to: number, length: number, limit: number, handle: string | undefined): string {
  const cut = `[cut here: the first ${to} of ${length} characters (maxResultCharacters is ${limit})`;
  return handle === undefined
    ? `${cut}]`
    : `${cut}; ${READ_MORE} with handle "${handle}" and from ${to} reads on]`;
}
