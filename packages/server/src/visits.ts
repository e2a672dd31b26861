/** Ids of the pages that users are sent to: each leads back to the client that was asked, and to no other (client/elicitation). */

import { fingerprint } from "@patchbay/core";

/**
 * A new id, which nobody guesses.
 *
 * @param key of who is asked, where they can be told apart
 */
export function newElicitationId(key: string | undefined): string {
  const id = crypto.randomUUID();
  return key === undefined ? id : `${id}.${fingerprint(key)}`;
}

/** Whether the id was made for who has this key. */
export function isAskedOf(elicitationId: string, key: string | undefined): boolean {
  return key !== undefined && elicitationId.endsWith(`.${fingerprint(key)}`);
}
