/** Patchbay over Streamable HTTP, for who has a token. Arguments: its issuer, whom it is for, and the issuer's key as a JWK. */

import { createServer } from "node:http";
import { jwtVerifier } from "@patchbay/server/auth";
import { serveHttp } from "@patchbay/server/http";
import { listening } from "./listening.mjs";
import { server } from "./patchbay.mjs";
import { limits } from "./workload.mjs";

const [issuer, audience, jwk] = process.argv.slice(2);
const keys = createServer((_request, response) => {
  response.writeHead(200, { "content-type": "application/json" }).end(`{"keys":[${jwk}]}`);
});
await new Promise((resolve) => keys.listen(0, "127.0.0.1", resolve));
const jwksUri = `http://127.0.0.1:${keys.address().port}/jwks`;
const verify = jwtVerifier({ issuer, audience, jwksUri });
const running = await serveHttp(server, { port: 0, ...limits, auth: { verify, scopes: ["read"] } });
listening(running.port);
