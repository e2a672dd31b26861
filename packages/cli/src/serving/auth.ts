/** Whose tokens `serve` takes: the options about it, checked, and what verifies them. */

import type { AuthOptions } from "@patchbay/server/http";
import { usage } from "../failure.ts";
import type { ServeOptions } from "./plan.ts";

export interface AuthPlan {
  issuer: string;
  audience: string;
  /** Where the issuer's keys are, unless its metadata says so. */
  jwksUri: string | undefined;
  scopes: string[];
}

/**
 * Reads `--auth-…`.
 *
 * @throws Failure (usage) where something is missing: then anybody would get in
 */
export function authPlanOf(options: ServeOptions): AuthPlan | undefined {
  const { authIssuer: issuer, authAudience: audience, authScopes = "", authJwks: jwksUri } = options;
  if (issuer === undefined) {
    if (audience === undefined && jwksUri === undefined && authScopes === "") return undefined;
    throw usage("--auth-issuer is missing: the authorization server whose tokens are taken.");
  }
  if (audience === undefined)
    throw usage(
      "--auth-audience is missing: who tokens have to be for, such as the URL that clients use: https://mcp.example.com/mcp.",
    );
  return { issuer, audience, jwksUri, scopes: authScopes.split(/[\s,]+/).filter((scope) => scope !== "") };
}

/** @throws Failure (usage) for what would let in anybody else */
export async function openAuth(plan: AuthPlan | undefined): Promise<{ auth?: AuthOptions }> {
  if (plan === undefined) return {};
  const { jwtVerifier } = await import("@patchbay/server/auth");
  const { issuer, audience, jwksUri, scopes } = plan;
  if (!/^https?:\/\//.test(audience))
    throw usage(
      `--auth-audience takes the URL that clients use, such as https://mcp.example.com/mcp, not "${audience}".`,
    );
  try {
    return {
      auth: { verify: jwtVerifier({ issuer, audience, ...(jwksUri !== undefined && { jwksUri }) }), scopes },
    };
  } catch (thrown) {
    throw usage(`--auth-…: ${(thrown as Error).message}.`);
  }
}
