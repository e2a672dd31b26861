/** Tokens without a user: client credentials, a workload's identity, an enterprise's identity provider. */

import { decodeJwt } from "jose";
import {
  allowInsecureRequests,
  customFetch,
  genericTokenEndpointRequest,
  None,
  processGenericTokenEndpointResponse,
} from "oauth4webapi";
import { AuthorizationError } from "../errors.ts";
import { NOBODY, secretPost } from "./client-identity.ts";
import { step } from "./failures.ts";
import type { EnterpriseManaged, JwtBearer, MachineGrant } from "./options.ts";
import { shown } from "./reach.ts";
import type { Grant } from "./store.ts";
import { type Asking, byGrant } from "./tokens.ts";

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** @throws AuthorizationError when nothing is given; it is not tried in another way */
export async function byMachine(asking: Asking, grant: MachineGrant): Promise<Grant> {
  const { issuer } = asking.authorizationServer;
  const ask = (type: string, parameters: Record<string, string> = {}) =>
    step("token", issuer, undefined, () => byGrant(asking, type, parameters));
  switch (grant.type) {
    case "client_credentials":
      return ask("client_credentials");
    case "jwt_bearer":
      return ask(JWT_BEARER, { assertion: await assertionFor(asking, grant) });
    case "enterprise_managed":
      return ask(JWT_BEARER, { assertion: await idJag(asking, grant) });
  }
}

/** What vouches for us; whoever gets it could use it elsewhere, where it is for them. */
async function assertionFor(asking: Asking, { assertion }: JwtBearer): Promise<string> {
  const { authorizationServer, resource, scope } = asking;
  const { issuer, token_endpoint: tokenEndpoint = "" } = authorizationServer;
  const given =
    typeof assertion === "string" ? assertion : await assertion({ issuer, tokenEndpoint, resource, scope });
  if (!isFor(given, [issuer, tokenEndpoint])) {
    const what = `The assertion is not for ${issuer} (aud), which authorizes for ${shown(asking.server)}`;
    throw new AuthorizationError("token", `${what}: it is not sent there`);
  }
  return given;
}

function isFor(assertion: string, audiences: readonly string[]): boolean {
  try {
    const { aud } = decodeJwt(assertion);
    return [aud].flat().some((audience) => audience !== undefined && audiences.includes(audience));
  } catch {
    return false;
  }
}

/** The identity provider's word that this user may be let in to this server (RFC 8693, ID-JAG). */
async function idJag(asking: Asking, { idp, idToken, idTokenType }: EnterpriseManaged): Promise<string> {
  const { authorizationServer, reach, resource, scope } = asking;
  const { tokenEndpoint, clientId, clientSecret } = idp;
  const provider = { issuer: tokenEndpoint, token_endpoint: tokenEndpoint };
  const client = clientId === undefined ? NOBODY.client : { client_id: clientId };
  const show = clientSecret === undefined ? None() : secretPost(clientSecret);
  const authenticate = clientId === undefined ? NOBODY.authenticate : show;
  const parameters = {
    requested_token_type: ID_JAG,
    audience: authorizationServer.issuer,
    resource,
    subject_token: typeof idToken === "string" ? idToken : await idToken(),
    subject_token_type: idTokenType ?? ID_TOKEN,
    ...(scope !== undefined && { scope }),
  };
  return step("token", `The identity provider ${shown(tokenEndpoint)}`, undefined, async () => {
    const response = await genericTokenEndpointRequest(
      provider,
      client,
      authenticate,
      TOKEN_EXCHANGE,
      parameters,
      {
        [customFetch]: reach.fetch as typeof fetch,
        [allowInsecureRequests]: true,
      },
    );
    const given = await processGenericTokenEndpointResponse(provider, client, response, {
      // It is no access token, and says so.
      recognizedTokenTypes: { n_a: () => {} },
    });
    if (given.issued_token_type !== ID_JAG) throw new Error("what it gave is no ID-JAG (issued_token_type)");
    return given.access_token;
  });
}
