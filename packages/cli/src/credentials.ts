/** What logins leave behind: where it is, and what a connection takes of it. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { AuthorizationError, type ConnectOptions } from "@patchbay/client";
import type { CredentialStore } from "@patchbay/client/oauth";
import { userConfigFile } from "./config/config.ts";
import type { Context, ServerOptions } from "./context.ts";
import { toFailure, usage } from "./failure.ts";
import { findTarget, type Target } from "./targets.ts";

/** A server that one can log in to. */
export interface Site {
  /** As the user knows it. */
  name: string;
  url: string;
}

/** Beside the user's configuration. */
function credentialsFile(): string {
  return join(dirname(userConfigFile()), "credentials.json");
}

export async function openStore(): Promise<CredentialStore> {
  const { fileStore } = await import("@patchbay/client/oauth");
  return fileStore({ path: credentialsFile(), keychain: process.env.PATCHBAY_KEYCHAIN === "1" });
}

/**
 * How to connect to a server that somebody is logged in to; nothing, and nothing is loaded, where nobody is.
 *
 * @param warn is told when logins cannot be read
 */
export async function authFor({ to }: Target, warn: (text: string) => void): Promise<ConnectOptions["auth"]> {
  if (!("url" in to) || declares(to.headers) || !existsSync(credentialsFile())) return undefined;
  const store = await openStore();
  const { whoami } = await import("@patchbay/client/oauth");
  const account = await whoami(to.url, store).catch((thrown: unknown) => {
    // Nobody can be logged in where nothing secret may be sent.
    if (!(thrown instanceof AuthorizationError)) warn(`Nobody is logged in: ${toFailure(thrown).message}`);
    return undefined;
  });
  return account && { store };
}

/**
 * The server that a login is about.
 *
 * @throws Failure (usage) when it is none behind a URL, or its entry says already who asks
 */
export async function findSite(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
): Promise<Site> {
  const { name: known, to } = await findTarget(name, options, context);
  if (!("url" in to))
    throw usage(`"${known}" is started here: there is nobody to log in to. A login is for a URL.`);
  if (declares(to.headers))
    throw usage(`The entry of "${known}" has an Authorization header: remove it, or do without a login.`);
  return { name: known, url: to.url };
}

/** Where a login is of use: at a URL whose entry does not say already who asks. */
export function takesLogin(target: Target): target is Target & { to: { url: string } } {
  return "url" in target.to && !declares(target.to.headers);
}

function declares(headers: Record<string, string> = {}): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
}
