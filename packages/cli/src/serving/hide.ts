/** What no message and no log of `serve` shows: the secrets that seal, and the password of a Redis. */

import type { Output } from "../output.ts";
import type { Hidden } from "../secrets.ts";
import type { HttpPlan } from "./plan.ts";

export function hideSecrets({ secrets, sessions, auth }: HttpPlan, output: Output): void {
  if (auth?.kind === "introspection" && auth.clientSecret !== undefined)
    output.hide([[auth.clientSecret, "[PATCHBAY_AUTH_CLIENT_SECRET]"]]);
  output.hide(secrets.map((secret): Hidden => [secret, "[PATCHBAY_SECRETS]"]));
  if (sessions.kind === "sealed")
    output.hide(sessions.secrets.map((secret): Hidden => [secret, "[PATCHBAY_SECRETS]"]));
  if (sessions.kind !== "redis" || !URL.canParse(sessions.url)) return;
  const { password } = new URL(sessions.url);
  if (password !== "") output.hide([[password, "[password]"]]);
}
