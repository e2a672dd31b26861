/** `logout`: what a login left behind is forgotten, here and at the authorization server. */

import type { Context, ServerOptions } from "../context.ts";
import { findSite, openStore } from "../credentials.ts";
import { visibleName } from "../visible.ts";

export async function logout(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const site = await findSite(name, options, context);
  const { logout: logOut } = await import("@patchbay/client/oauth");
  const ended = await logOut(site.url, { store: await openStore(), signal });
  const shown = visibleName(site.name);
  if (output.json) output.value({ loggedOut: ended !== undefined, revoked: ended?.revoked === true });
  else if (ended === undefined) output.text(`Nobody was logged in to ${shown}.`);
  else output.text(`Logged out of ${shown}.`);
  if (ended?.revoked === false) {
    output.warn("The authorization server could not be told: what it gave counts there until it ends.");
  }
}
