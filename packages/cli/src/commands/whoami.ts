/** `whoami`: who is logged in, and where. */

import type { Account } from "@patchbay/client/oauth";
import type { Context, ServerOptions } from "../context.ts";
import { findSite, openStore } from "../credentials.ts";
import { failed } from "../failure.ts";
import type { Output } from "../output.ts";
import { shownUrl } from "../secrets.ts";
import { visibleLine, visibleName } from "../visible.ts";

/** What is said of a login; none of it is a secret. */
export type Described = Pick<Account, "issuer" | "refreshes"> & {
  server: string;
  user: string | null;
  scopes: string[];
  expiresAt: string | null;
};

/** Without a server, all logins. */
export async function whoami(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<void> {
  const { output } = context;
  const { accounts, whoami: who } = await import("@patchbay/client/oauth");
  const store = await openStore();
  if (name === undefined) return showAll(await accounts(store), output);
  const site = await findSite(name, options, context);
  const account = await who(site.url, store);
  if (account === undefined) {
    const shown = visibleName(site.name);
    throw failed(`Nobody is logged in to ${shown}. Log in with: patchbay login ${shown}`);
  }
  if (output.json) output.value({ account: describe(account) });
  else show(account, output);
}

export function describe({ server, issuer, user, scopes, expiresAt, refreshes }: Account): Described {
  return {
    server: shownUrl(server),
    issuer,
    user: user ?? null,
    scopes: [...scopes],
    expiresAt: expiresAt?.toISOString() ?? null,
    refreshes,
  };
}

function showAll(accounts: Account[], output: Output): void {
  if (output.json) output.value({ accounts: accounts.map(describe) });
  else if (accounts.length === 0)
    output.note("Nobody is logged in anywhere. Log in with: patchbay login <url>");
  else for (const account of accounts) show(account, output);
}

function show(account: Account, output: Output): void {
  const { server, issuer, user, scopes, expiresAt, refreshes } = describe(account);
  const { bold, dim } = output.colors;
  output.styled(bold(visibleName(server)));
  const ends = expiresAt === null ? "not known" : expiresAt;
  for (const [what, value] of [
    ["user", user ?? "not known"],
    ["by", issuer],
    ["may", scopes.length === 0 ? "what it is allowed by default" : scopes.join(" ")],
    ["until", refreshes ? `${ends}, then refreshed` : ends],
  ]) {
    output.styled(`  ${dim(`${what}`.padEnd(6))}${visibleLine(value ?? "")}`);
  }
}
