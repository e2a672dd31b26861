/** What a protected server says of itself: its metadata (RFC 9728), and the challenges that lead there (RFC 6750 § 3). */

import type { JsonObject } from "@patchbay/core";

export const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The parameters of a challenge, in this order. */
export interface Challenge {
  error?: "invalid_request" | "invalid_token" | "insufficient_scope";
  error_description?: string;
  scope?: string;
  resource_metadata?: string;
}

/** The value of `WWW-Authenticate`. */
export function challengeOf(challenge: Challenge): string {
  const parameters = Object.entries(challenge).flatMap(([name, value]) =>
    // What a quoted string may not hold would end it.
    value === undefined || value === "" ? [] : [`${name}="${value.replaceAll(/[^\x20-\x7e]|["\\]/g, "'")}"`],
  );
  return parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`;
}

/** The metadata of one resource. */
export interface ResourceMetadata {
  /** Where clients find it. */
  readonly url: string;
  readonly text: string;
  /** Whether it is what is at this path of ours: its own place, or the root for who looks there. */
  isAt(path: string): boolean;
}

/** @throws Error for a resource that is no URL as a client would use it */
export function resourceMetadata(
  resource: string,
  authorizationServers: readonly string[],
  others: JsonObject,
): ResourceMetadata {
  const url = URL.canParse(resource) ? new URL(resource) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hash !== "" || url.username !== "") {
    throw new Error(
      `auth.resource: "${resource}" is not the URL of this server, such as https://mcp.example.com/mcp`,
    );
  }
  const path = `${WELL_KNOWN}${url.pathname === "/" ? "" : url.pathname}`;
  const document = {
    resource,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ["header"],
    ...others,
  };
  return {
    url: `${url.origin}${path}${url.search}`,
    text: JSON.stringify(document),
    isAt: (asked) => asked === path || asked === WELL_KNOWN,
  };
}
