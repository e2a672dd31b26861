/** Completion: suggestions for a prompt's or a template's argument (server/utilities/completion). */

import type { Result } from "./base.ts";

export type CompletionReference =
  | { type: "ref/prompt"; name: string }
  | { type: "ref/resource"; uri: string };

export interface CompleteParams {
  ref: CompletionReference;
  argument: { name: string; value: string };
  context?: { arguments?: Record<string, string> };
}

export interface CompleteResult extends Result {
  completion: {
    /** At most 100, best first. */
    values: string[];
    total?: number;
    hasMore?: boolean;
  };
}
