/** Tokens of a reply, as its provider counts them. */

import type { AIMessage } from "@langchain/core/messages";
import type { Usage } from "../events.ts";

/** Nothing where the provider does not say. */
export function usageOf({ usage_metadata: told }: AIMessage): Usage | undefined {
  if (told === undefined) return undefined;
  const cached = told.input_token_details?.cache_read;
  return {
    inputTokens: told.input_tokens,
    outputTokens: told.output_tokens,
    ...(cached === undefined ? {} : { cachedTokens: cached }),
  };
}

/** The sum of both; of what is not known, nothing. */
export function addUsage(sum: Usage | undefined, more: Usage | undefined): Usage | undefined {
  if (sum === undefined || more === undefined) return sum ?? more;
  const cached = (sum.cachedTokens ?? 0) + (more.cachedTokens ?? 0);
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    ...(cached === 0 ? {} : { cachedTokens: cached }),
  };
}
