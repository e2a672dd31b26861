/** Whose tokens `serve` takes: the options about it, checked, and what verifies them. */

import type { TokenVerifier } from "@patchbay/server/auth";
import type { AuthOptions } from "@patchbay/server/http";
import { usage } from "../failure.ts";
import { readKeys } from "./keys.ts";
import type { ServeOptions } from "./plan.ts";

/** Who says what a token is worth. */
type Verifying =
  /** Its signature, by the keys of the issuer: where they are, unless its metadata says so. */
  | { kind: "jwt"; jwksUri: string | undefined }
  /** The issuer, which is asked. */
  | { kind: "introspection"; endpoint: string; clientId: string; clientSecret: string | undefined };

export type AuthPlan = (
  | (Verifying & { issuer: string; audience: string })
  /** A file of the keys that were given out. */
  | { kind: "keys"; file: string }
) & {
  scopes: string[];
  /** Whether each token has to be bound to a key. */
  dpop: boolean;
  /** What stands before our paths for clients, where a balancer takes some off. */
  publicUrl: string | undefined;
};

const SECRET = "PATCHBAY_AUTH_CLIENT_SECRET";

/**
 * Reads `--auth-…`, and takes the secret of `--auth-client-id` out of the environment.
 *
 * @throws Failure (usage) where something is missing or too much: then anybody would get in, or not who was meant
 */
export function authPlanOf(options: ServeOptions, environment: NodeJS.ProcessEnv): AuthPlan | undefined {
  const clientSecret = environment[SECRET];
  delete environment[SECRET];
  const { authIssuer: issuer, authKeys: file, authScopes = "", authDpop: dpop = false } = options;
  const publicUrl = options.authPublicUrl;
  const scopes = authScopes.split(/[\s,]+/).filter((scope) => scope !== "");
  const [other] = OF_TOKENS.filter(([name]) => options[name] !== undefined);
  if (file !== undefined) {
    if (issuer === undefined && other === undefined) return { kind: "keys", file, scopes, dpop, publicUrl };
    const both = issuer === undefined ? other?.[1] : "--auth-issuer";
    throw usage(
      `--auth-keys takes keys that you gave out, and ${both} the tokens of somebody else: take one.`,
    );
  }
  if (issuer === undefined) {
    if (other === undefined && scopes.length === 0) return undefined;
    throw usage(
      "--auth-issuer is missing: the authorization server whose tokens are taken. Or --auth-keys, for keys of yours.",
    );
  }
  const {
    authAudience: audience,
    authJwks: jwksUri,
    authIntrospection: endpoint,
    authClientId: clientId,
  } = options;
  if (audience === undefined)
    throw usage(
      "--auth-audience is missing: who tokens have to be for, such as the URL that clients use: https://mcp.example.com/mcp.",
    );
  if (!isUrlOfServer(audience))
    throw usage(
      `--auth-audience takes the URL that clients use, such as https://mcp.example.com/mcp, not "${audience}".`,
    );
  const all = { issuer, audience, scopes, dpop, publicUrl };
  if (endpoint === undefined) {
    if (clientId !== undefined) throw usage("--auth-client-id is for --auth-introspection: add that.");
    return { kind: "jwt", jwksUri, ...all };
  }
  if (jwksUri !== undefined)
    throw usage("--auth-introspection asks the issuer, and --auth-jwks does not: take one.");
  if (clientId === undefined)
    throw usage(
      `--auth-client-id is missing: who this server is where it asks about tokens. Its secret is in ${SECRET}.`,
    );
  return { kind: "introspection", endpoint, clientId, clientSecret, ...all };
}

function isUrlOfServer(audience: string): boolean {
  if (!/^https?:\/\//.test(audience) || !URL.canParse(audience)) return false;
  const { hash, username } = new URL(audience);
  return hash === "" && username === "";
}

/** What is about the tokens of an authorization server alone. */
const OF_TOKENS = [
  ["authAudience", "--auth-audience"],
  ["authJwks", "--auth-jwks"],
  ["authIntrospection", "--auth-introspection"],
  ["authClientId", "--auth-client-id"],
  ["authDpop", "--auth-dpop"],
  ["authPublicUrl", "--auth-public-url"],
] as const satisfies readonly (readonly [keyof ServeOptions, string])[];

/**
 * @param path the path of the endpoint
 * @throws Failure (usage) for what would let in anybody else
 */
export async function openAuth(plan: AuthPlan | undefined, path = "/mcp"): Promise<{ auth?: AuthOptions }> {
  if (plan === undefined) return {};
  const { scopes, dpop, publicUrl } = plan;
  const verify = await verifierOf(plan, path);
  return {
    auth: { verify, scopes, dpop: { required: dpop, ...(publicUrl !== undefined && { publicUrl }) } },
  };
}

async function verifierOf(plan: AuthPlan, path: string): Promise<TokenVerifier> {
  const { introspection, jwtVerifier, staticKeys } = await import("@patchbay/server/auth");
  if (plan.kind === "keys") return staticKeys(readKeys(plan.file));
  const { issuer } = plan;
  const audience = urlsOf(plan.audience, path);
  try {
    if (plan.kind === "jwt") {
      const { jwksUri } = plan;
      return jwtVerifier({ issuer, audience, ...(jwksUri !== undefined && { jwksUri }) });
    }
    const { endpoint, clientId, clientSecret } = plan;
    if (clientSecret === undefined)
      throw new Error(`${SECRET} is not set: it holds the secret of --auth-client-id`);
    return introspection({ issuer, audience, endpoint, clientId, clientSecret });
  } catch (thrown) {
    throw usage(`--auth-…: ${(thrown as Error).message}.`);
  }
}

/** Clients of HTTP+SSE get tokens for the URL that they use, which is another one of the same server. */
function urlsOf(audience: string, path: string): string[] {
  const { origin, pathname } = new URL(audience);
  if (!pathname.endsWith(path)) return [audience];
  return [audience, `${origin}${pathname.slice(0, -path.length)}/sse`];
}
