/** What the way in which a server refuses says about what it speaks. */

import { ErrorCode } from "@patchbay/core";

/** These codes exist since 2026-07-28 only: whoever uses one speaks a modern revision. */
export const MODERN_CODES: readonly number[] = [
  ErrorCode.UnsupportedProtocolVersion,
  ErrorCode.MissingRequiredClientCapability,
  ErrorCode.HeaderMismatch,
];
/** HTTP statuses that say nothing about what is spoken: who may ask, how often. */
const UNTELLING_STATUSES = new Set([401, 403, 407, 429]);
/** A refusal that a server gives who speaks something else than it does. */
export function isTelling(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && !UNTELLING_STATUSES.has(status);
}
