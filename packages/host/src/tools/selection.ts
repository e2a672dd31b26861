/** Which tools a model is offered now: all; or, where they are too many, a search and what it has found. */

import type { Catalog, OfferedTool } from "./catalog.ts";
import { estimateTokens } from "./definitions.ts";
import { FORMATS } from "./formats.ts";
import { type OwnTool, readMoreTool, searchTool } from "./own-tools.ts";

export interface SelectionLimits {
  /** Tools that a model is given as they are; with more, it searches. Default 60. */
  maxTools?: number;
  /** The same in tokens, about. Default 20,000. */
  maxToolTokens?: number;
}

export interface Selection {
  /** The servers' tools that are offered now. */
  tools: OfferedTool[];
  /** The host's own. */
  own: OwnTool[];
  /** Tools in all, and about how many tokens they would cost in this request, and do. */
  total: number;
  totalTokens: number;
  tokens: number;
}

/** Tools that a conversation has found, the last of them. */
const MAX_FOUND = 40;

/**
 * Selects.
 *
 * @param found the names that searches have found so far, in order
 * @param keeps whether a long result is kept that the model may read on in
 */
export function selectTools(
  catalog: Pick<Catalog, "format" | "tools">,
  { found = [], keeps = false }: { found?: Iterable<string>; keeps?: boolean } = {},
  { maxTools = 60, maxToolTokens = 20_000 }: SelectionLimits = {},
): Selection {
  const { format, tools } = catalog;
  const total = tools.length;
  if (format === "none") return { tools, own: [], total, totalTokens: 0, tokens: 0 };
  const own = keeps ? [readMoreTool] : [];
  const totalTokens = estimateTokens(tools);
  const most = Math.min(maxTools, (FORMATS[format].maxTools ?? Number.POSITIVE_INFINITY) - own.length);
  if (total <= most && totalTokens <= maxToolTokens) {
    return { tools, own, total, totalTokens, tokens: totalTokens + estimateTokens(own) };
  }
  const last = new Set([...new Set([...found].reverse())].slice(0, MAX_FOUND));
  const offered = tools.filter(({ name }) => last.has(name));
  own.unshift(searchFor(tools));
  return {
    tools: offered,
    own,
    total,
    totalTokens,
    tokens: estimateTokens(offered) + estimateTokens(own),
  };
}

const searches = new WeakMap<readonly OfferedTool[], OwnTool>();

/** The same for the same tools: what does not change a provider need not read again. */
function searchFor(tools: readonly OfferedTool[]): OwnTool {
  const search = searches.get(tools) ?? searchTool(tools);
  searches.set(tools, search);
  return search;
}
