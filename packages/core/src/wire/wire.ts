/** How each revision writes what the model holds in its newest spelling. */

import type { ErrorObject } from "../errors.ts";
import type { CacheHints, Result } from "../model/base.ts";
import type { Era, Revision } from "../revisions.ts";
import { wire20251125 } from "./2025-11-25.ts";
import { wire20260728 } from "./2026-07-28.ts";

/** One revision's way of writing. */
export interface Wire {
  readonly revision: Revision;
  readonly era: Era;
  /**
   * The text of a result.
   *
   * @param serverMeta the `_meta` member that names the server, as JSON text: `"key":{…}`
   */
  writeResult(result: Result, serverMeta: string): string;
  /** The text of a tool, resource, template or prompt in a list. */
  writeDefinition(definition: object): string;
  /**
   * The text of a list's page, from its members as JSON text (`"tools":[…],"nextCursor":"…"`).
   */
  writePage(members: string, hints: Required<CacheHints>, serverMeta: string): string;
  /** The error as this revision spells it. */
  error(thrown: unknown): ErrorObject;
}

const WIRES: Record<Revision, Wire> = { "2026-07-28": wire20260728, "2025-11-25": wire20251125 };

export function wireOf(revision: Revision): Wire {
  return WIRES[revision];
}
