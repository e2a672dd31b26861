/** A protected server of the official SDK v2: `ISSUER=http://… node protected-sdk-v2.mjs` takes the tokens of that issuer. */

import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
} from "@modelcontextprotocol/server";

const { ISSUER } = process.env;
const oauthMetadata = await (await fetch(`${ISSUER}/.well-known/oauth-authorization-server`)).json();
const { keys } = await (await fetch(oauthMetadata.jwks_uri)).json();

const http = createServer(async (request, response) => {
  const { method, headers, url } = request;
  const web = new Request(new URL(url, resourceServerUrl), { method, headers });
  const metadata = oauthMetadataResponse(web, {
    oauthMetadata,
    resourceServerUrl,
    scopesSupported: ["read"],
  });
  if (metadata !== undefined) return send(metadata, response);
  const text = Buffer.concat(await request.toArray()).toString();
  const body = text === "" ? undefined : JSON.parse(text);
  const auth = await gateOf(body?.params?.name === "change" ? ["read", "write"] : ["read"])(web);
  if (auth instanceof Response) return send(auth, response);
  request.auth = auth;
  return handle(request, response, body);
});
await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
const resourceServerUrl = new URL(`http://127.0.0.1:${http.address().port}/mcp`);
const handle = toNodeHandler(createMcpHandler(build));
console.log(resourceServerUrl.href);

function gateOf(requiredScopes) {
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resourceServerUrl);
  return requireBearerAuth({ verifier: { verifyAccessToken }, requiredScopes, resourceMetadataUrl });
}

async function verifyAccessToken(token) {
  const [header, payload, signature] = token.split(".");
  const read = (part) => JSON.parse(Buffer.from(part, "base64url"));
  const { kid } = read(header);
  const key = createPublicKey({ key: keys.find((each) => each.kid === kid), format: "jwk" });
  const claims = read(payload);
  const signed = verify(
    "sha256",
    Buffer.from(`${header}.${payload}`),
    key,
    Buffer.from(signature, "base64url"),
  );
  if (!signed || claims.iss !== ISSUER || claims.aud !== resourceServerUrl.href)
    throw new OAuthError(OAuthErrorCode.InvalidToken, "not for this server");
  return { token, clientId: claims.client_id, scopes: claims.scope.split(" "), expiresAt: claims.exp };
}

function build() {
  const mcp = new McpServer({ name: "protected", version: "2.0.0" });
  for (const name of ["who", "change"]) {
    mcp.registerTool(name, {}, ({ http }) => ({
      content: [{ type: "text", text: `${name}: ${http.authInfo.scopes.join(" ")}` }],
    }));
  }
  return mcp;
}

async function send(answer, response) {
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}
