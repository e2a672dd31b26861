/** What a protected server says of itself: its metadata (RFC 9728), and the challenges that lead there (RFC 6750 § 3). */

import type { JsonObject } from "@patchbay/core";

export const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** The parameters of a challenge, in this order. */
export interface Challenge {
  error?:
    | "invalid_request"
    | "invalid_token"
    | "insufficient_scope"
    | "invalid_dpop_proof"
    | "use_dpop_nonce";
  error_description?: string;
  scope?: string;
  resource_metadata?: string | undefined;
  /** Of DPoP: the signatures of proofs that count. */
  algs?: string | undefined;
}

/** The value of `WWW-Authenticate`. */
export function challengeOf(scheme: "Bearer" | "DPoP", challenge: Challenge): string {
  const parameters = Object.entries(challenge).flatMap(([name, value]) =>
    // What a quoted string may not hold would end it.
    value === undefined || value === "" ? [] : [`${name}="${value.replaceAll(/[^\x20-\x7e]|["\\]/g, "'")}"`],
  );
  return parameters.length === 0 ? scheme : `${scheme} ${parameters.join(", ")}`;
}

/** The metadata of one resource. */
interface ResourceMetadata {
  /** The path of the resource itself, for its clients. */
  readonly path: string;
  /** Where clients find the metadata, and the path of that. */
  readonly url: string;
  readonly place: string;
  readonly text: string;
}

/** The resources that one server is: one for each of its URLs, as its endpoints have their own. */
export class Resources {
  readonly #all: readonly ResourceMetadata[];
  /** What stands before our paths for clients. */
  readonly #prefix: string;

  /**
   * @param urls the URLs of the server, as clients use them
   * @param publicUrl what stands before our paths there
   * @throws Error for what is no such URL
   */
  constructor(
    urls: readonly string[],
    publicUrl: string | undefined,
    authorizationServers: readonly string[],
    others: JsonObject,
  ) {
    this.#all = urls.map((url) => metadataOf(url, authorizationServers, others));
    this.#prefix = publicUrl === undefined ? "" : new URL(publicUrl).pathname.replace(/\/$/, "");
  }

  /** Where the metadata of the endpoint at this path of ours is: its own, or that of what it is part of. */
  urlFor(path: string): string | undefined {
    const asked = this.#prefix + path;
    const own = this.#all.find((each) => each.path === asked);
    const around = this.#all.filter((each) => `${asked}/`.startsWith(`${each.path.replace(/\/$/, "")}/`));
    const closest = around.sort((one, other) => other.path.length - one.path.length)[0];
    return (own ?? closest ?? this.#all[0])?.url;
  }

  /** The metadata that is at this path of ours: its own place, or the root for who looks there. */
  at(path: string): string | undefined {
    const own = this.#all.find(({ place }) => place === path);
    return (own ?? (path === WELL_KNOWN ? this.#all[0] : undefined))?.text;
  }
}

function metadataOf(
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
  const place = `${WELL_KNOWN}${url.pathname === "/" ? "" : url.pathname}`;
  const document = {
    resource,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ["header"],
    ...others,
  };
  return {
    path: url.pathname,
    url: `${url.origin}${place}${url.search}`,
    place,
    text: JSON.stringify(document),
  };
}
