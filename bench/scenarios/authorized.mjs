/** What a request costs more where tokens are asked for, once its token is known. */

import { generateKeyPairSync, sign } from "node:crypto";
import { http } from "../drivers/http.mjs";
import { throughput } from "../measures/throughput.mjs";
import { echo, LEGACY, MODERN } from "../messages.mjs";
import { microsAbove } from "../targets.mjs";

const AUDIENCE = "https://bench.example/mcp";
const KEY_ID = "bench";
const MOST = 10;

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = { ...publicKey.export({ format: "jwk" }), kid: KEY_ID, alg: "ES256" };

/** The issuer is the server's own: who it is does not matter here. */
function token(issuer) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: AUDIENCE, sub: "bench", scope: "read", iat: now, exp: now + 24 * 3600 };
  const text = [{ alg: "ES256", kid: KEY_ID }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

const ISSUER = "http://127.0.0.1:1";
const headers = { authorization: `Bearer ${token(ISSUER)}` };

/** Both are sent the same bytes: one reads the token, the other passes it over. */
const eras = [
  ["modern", MODERN, "Patchbay"],
  ["legacy", LEGACY, "Patchbay, sessions"],
];

/** @type {import("../scenarios.mjs").Scenario} */
export const authorized = {
  name: "authorized",
  title: "tools/call echo with a token that is known, Streamable HTTP, 64 connections",
  measured: throughput(http(echo), { floor: "no auth" }),
  targets: eras.map(([era, , title]) =>
    microsAbove(
      MOST,
      `patchbay-${era}-token`,
      `patchbay-${era}-open`,
      `${title}: CPU of a call, above that without auth`,
    ),
  ),
  contenders: eras.flatMap(([era, revision, title]) => [
    {
      name: `patchbay-${era}-open`,
      title: `${title}, no auth`,
      revision,
      headers,
      serve: ["servers/patchbay-http.mjs"],
      ours: true,
      floor: era === "modern",
    },
    {
      name: `patchbay-${era}-token`,
      title: `${title}, a JWT`,
      revision,
      headers,
      serve: ["servers/patchbay-auth-http.mjs", ISSUER, AUDIENCE, JSON.stringify(jwk)],
      ours: true,
    },
  ]),
};
