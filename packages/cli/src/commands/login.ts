/** `login`: a user allows this command to use a server. */

import { createInterface } from "node:readline/promises";
import { type Connection, open } from "../connection.ts";
import type { Context, ServerOptions } from "../context.ts";
import { findSite, openStore, type Site } from "../credentials.ts";
import { canAsk } from "../dialog.ts";
import { usage } from "../failure.ts";
import { visibleName } from "../visible.ts";
import { describe } from "./whoami.ts";

export interface LoginOptions extends ServerOptions {
  scope?: string;
  clientId?: string;
  issuer?: string;
  clientMetadataUrl?: string;
  redirectUri?: string;
  /** False with `--no-browser`. */
  browser?: boolean;
  privateHost?: string[];
}

export async function login(
  name: string | undefined,
  options: LoginOptions,
  context: Context,
): Promise<void> {
  const { output, signal } = context;
  const site = await findSite(name, options, context);
  const { browser, login: logIn } = await import("@patchbay/client/oauth");
  const { redirectUri, scope, clientId, clientMetadataUrl, issuer, privateHost = [] } = options;
  const clientSecret = clientId === undefined ? undefined : process.env.PATCHBAY_CLIENT_SECRET;
  if (clientSecret !== undefined && issuer === undefined)
    throw usage(
      "PATCHBAY_CLIENT_SECRET is set: say by --issuer whose secret it is, for nobody else is sent it.",
    );
  const store = await openStore();
  const visit = browser({
    onUrl: (url) => output.message(`To log in, open this page in a browser of yours:\n\n  ${url}\n`),
    ...(options.browser === false && { open: () => {} }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(canAsk() && !output.json && { pasted }),
  });
  const account = await logIn(site.url, {
    store,
    browser: visit,
    privateHosts: privateHost,
    signal,
    ...(scope !== undefined && { scope }),
    ...(clientId !== undefined && { clientId }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(issuer !== undefined && { issuer }),
  });
  await tryOut(site, options, context);
  if (output.json) output.value({ account: describe(account) });
  else {
    const who = account.user === undefined ? "" : ` as ${visibleName(account.user)}`;
    output.text(`Logged in to ${visibleName(site.name)}${who}.`);
  }
}

/** A browser on another machine cannot come back to this one: its user brings the URL along. */
async function pasted(signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (
      await lines.question("If it does not come back by itself, paste the URL that it ends at: ", { signal })
    ).trim();
  } finally {
    lines.close();
  }
}

/** A token is good when the server says so. */
async function tryOut({ name, url }: Site, options: ServerOptions, context: Context): Promise<void> {
  const { client }: Connection = await open({ name, to: { url } }, options, context);
  await client.close();
}
