/** From what a caller chose to what vouches for each request to one server. */

import type { JsonObject } from "@patchbay/core";
import type { Authorization } from "../transports/authorized.ts";
import type { HttpTarget } from "../transports/http-endpoint.ts";
import { bearer } from "./bearer.ts";
import { isLoopback } from "./loopback.ts";
import type { Auth, MachineGrant, OAuthOptions } from "./options.ts";

/** The extensions that say how a client without a user gets its tokens. */
const EXTENSIONS: Partial<Record<MachineGrant["type"], string>> = {
  client_credentials: "io.modelcontextprotocol/oauth-client-credentials",
  enterprise_managed: "io.modelcontextprotocol/enterprise-managed-authorization",
};

/** What a client declares of how it is authorized. */
export function extensionsOf(auth: Auth): Record<string, JsonObject> {
  const name =
    typeof auth === "object" && auth?.grant !== undefined ? EXTENSIONS[auth.grant.type] : undefined;
  return name === undefined ? {} : { [name]: {} };
}

/** @throws TypeError when the server may not be sent secrets, or is sent others already */
export async function authorizationFor(target: HttpTarget, auth: Auth): Promise<Authorization> {
  const url = new URL(target.url);
  if (url.protocol !== "https:" && !isLoopback(url.hostname)) {
    throw new TypeError(`${url.origin}: a token is only sent over https, and on this machine over http`);
  }
  const declared = Object.keys(target.headers ?? {}).some((name) => name.toLowerCase() === "authorization");
  if (declared || url.username !== "" || url.password !== "") {
    throw new TypeError(
      `${url.origin}: auth and an Authorization header (or a user in the URL) exclude each other`,
    );
  }
  return typeof auth === "object" && auth !== null ? authorizerFor(url, auth) : bearer(auth);
}

/** The libraries are loaded where they are wanted: a token takes none. */
async function authorizerFor(url: URL, options: OAuthOptions): Promise<Authorization> {
  const { Authorizer } = await import("./authorizer.ts");
  return new Authorizer(url, options);
}
