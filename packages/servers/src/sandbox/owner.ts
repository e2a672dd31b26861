/** Whose a handle is. */

import type { Context } from "@patchbay/server";

/** Issuer and subject of who asks, as one text; empty where no tokens are asked for: there a handle is all it takes. */
export function ownerOf({ auth }: Context): string {
  return auth === undefined ? "" : JSON.stringify([auth.issuer, auth.subject]);
}
