/** How each revision writes what the model holds in its newest spelling. */

import type { ErrorObject } from "../errors.ts";
import type { CacheHints, Implementation, Result } from "../model/base.ts";
import type { ServerCapabilities } from "../model/capabilities.ts";
import type { InputRequest } from "../model/input.ts";
import type { Era, Revision } from "../revisions.ts";
import { wire20260728 } from "./2026-07-28.ts";
import { legacyWire } from "./legacy.ts";

/** One revision's way of writing. */
export interface Wire {
  readonly revision: Revision;
  readonly era: Era;
  /** Since 2025-11-25 a model is told of wrong arguments in a result; before, its client is by an error. */
  readonly wrongArgumentsAreResults: boolean;
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
  /** Who one is, as far as this revision can say it. */
  implementation(info: Implementation): Implementation;
  capabilities(capabilities: ServerCapabilities): ServerCapabilities;
  /** A notification's parameters, without what this revision lacks. */
  notificationParams(method: string, params: object): object;
  /** What is asked of a client, as this revision asks it; nothing when it cannot. */
  inputRequest(request: InputRequest): InputRequest | undefined;
  /** The error as this revision spells it. */
  error(thrown: unknown): ErrorObject;
}

const WIRES: Record<Revision, Wire> = {
  "2026-07-28": wire20260728,
  "2025-11-25": legacyWire("2025-11-25"),
  "2025-06-18": legacyWire("2025-06-18"),
  "2025-03-26": legacyWire("2025-03-26"),
  "2024-11-05": legacyWire("2024-11-05"),
};

export function wireOf(revision: Revision): Wire {
  return WIRES[revision];
}
