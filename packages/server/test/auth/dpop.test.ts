/** Tokens that are bound to a key: each request proves that who sends it has it (RFC 9449). */

import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { introspection, jwtVerifier } from "../../src/auth.ts";
import { memoryUsedStates } from "../../src/modern/used-states.ts";
import type { AuthOptions, HttpServing } from "../../src/transports/http.ts";
import { HEADERS } from "../streamable.ts";
import { type Json, MODERN_META } from "../wire.ts";
import { answerOf, guarded, textOf, whoami } from "./guarded.ts";
import { AUDIENCE, type Issuer, issuer } from "./issuer.ts";

interface Holder {
  jkt: string;
  token: string;
  /** A proof as it should be, but for what is said. */
  proof(claims?: Json, header?: Json): Promise<string>;
}

let idp: Issuer;
let ann: Holder;
let bob: Holder;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  idp = await issuer();
  ann = await holder("ann");
  bob = await holder("bob");
});
afterAll(() => idp.close());
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const sha256 = async (text: string) =>
  Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("base64url");

async function holder(sub: string): Promise<Holder> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const { kty, crv, x, y } = (await exportJWK(publicKey)) as Required<JWK>;
  const jkt = await sha256(JSON.stringify({ crv, kty, x, y }));
  const token = await idp.token({ sub, cnf: { jkt } });
  return {
    jkt,
    token,
    async proof(claims = {}, header = {}) {
      const payload: Json = {
        htm: "POST",
        htu: AUDIENCE,
        iat: Math.floor(Date.now() / 1000),
        jti: crypto.randomUUID(),
        ath: await sha256(token),
        ...claims,
      };
      for (const [name, value] of Object.entries(payload)) if (value === undefined) delete payload[name];
      return new SignJWT(payload)
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: { kty, crv, x, y }, ...header })
        .sign(privateKey);
    },
  };
}

async function serve(auth: Partial<AuthOptions> = {}, server = whoami()): Promise<HttpServing> {
  const verify = jwtVerifier({ issuer: idp.origin, audience: AUDIENCE });
  const serving = await guarded(server, { verify, ...auth });
  open.push(serving);
  return serving;
}

function ask(serving: HttpServing, authorization: string, proof: string | undefined): Promise<Response> {
  const params = { name: "whoami", _meta: MODERN_META };
  return fetch(serving.url, {
    method: "POST",
    headers: {
      ...HEADERS,
      authorization,
      ...(proof !== undefined && { dpop: proof }),
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "whoami",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
}

async function refusal(response: Response) {
  const { error } = (await response.json()) as Json;
  return [response.status, response.headers.get("www-authenticate") ?? "", error.message as string] as const;
}

test("a token that is bound to a key counts with a proof, again and again", async () => {
  const serving = await serve();
  for (let times = 0; times < 3; times++) {
    const answer = await answerOf(ask(serving, `DPoP ${ann.token}`, await ann.proof()));
    expect(JSON.parse(textOf(answer)).subject).toBe("ann");
  }
  // Other ways to write the same URL, and its query.
  for (const htu of ["https://MCP.example:443/mcp", `${AUDIENCE}?a=b#c`]) {
    expect((await ask(serving, `DPoP ${ann.token}`, await ann.proof({ htu }))).status).toBe(200);
  }
});

const now = () => Math.floor(Date.now() / 1000);
const WRONG: [what: string, claims: Json, header: Json, why: RegExp][] = [
  ["for another method", { htm: "GET" }, {}, /its htm is not POST/],
  ["for another URL", { htu: "https://mcp.example/other" }, {}, /its htu is not https:\/\/mcp\.example\/mcp/],
  ["for another host", { htu: "https://evil.example/mcp" }, {}, /its htu/],
  ["for what is no URL", { htu: "/mcp" }, {}, /its htu/],
  ["for another token", { ath: "x" }, {}, /its ath/],
  ["for no token", { ath: undefined }, {}, /not a proof/],
  ["that is old", { iat: now() - 120 }, {}, /its iat is more than 60 seconds/],
  ["from the future", { iat: now() + 120 }, {}, /its iat is more than 60 seconds/],
  ["without a time", { iat: "now" }, {}, /not a proof/],
  ["without a name", { jti: undefined }, {}, /not a proof/],
  ["with an empty name", { jti: "" }, {}, /it has no jti/],
  ["of another type", {}, { typ: "JWT" }, /not a proof/],
  ["without a key", {}, { jwk: undefined }, /not a proof/],
];

test.each(WRONG)("a proof %s is none", async (_what, claims, header, why) => {
  const serving = await serve();
  const [status, challenge, message] = await refusal(
    await ask(serving, `DPoP ${ann.token}`, await ann.proof(claims, header)),
  );
  expect(status).toBe(401);
  expect(challenge).toMatch(/^DPoP error="invalid_dpop_proof", .*algs="ES256 /);
  expect(challenge).toContain('resource_metadata="https://mcp.example/.well-known');
  expect(message).toMatch(why);
});

test("a proof of another key, an unsigned one, one with a private key in it, and none at all are refused", async () => {
  const serving = await serve();
  const theirs = await bob.proof({ ath: await sha256(ann.token) });
  const [head = "", body = ""] = (await ann.proof()).split(".");
  const encode = (value: Json) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const header = JSON.parse(Buffer.from(head, "base64url").toString());
  const unsigned = `${encode({ ...header, alg: "none" })}.${body}.`;
  const symmetric = await new SignJWT(JSON.parse(Buffer.from(body, "base64url").toString()))
    .setProtectedHeader({
      ...header,
      alg: "HS256",
      jwk: { kty: "oct", k: "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0" },
    })
    .sign(Buffer.from("secretsecretsecretsecret"));
  const shown = await ann.proof({}, { jwk: { ...header.jwk, d: "c2VjcmV0" } });
  const twice = `${await ann.proof()}, ${await ann.proof()}`;
  for (const proof of [theirs, unsigned, symmetric, shown, twice, "x", undefined]) {
    const [status, challenge] = await refusal(await ask(serving, `DPoP ${ann.token}`, proof));
    expect([status, challenge]).toEqual([401, expect.stringContaining('DPoP error="invalid_dpop_proof"')]);
  }
  const long = "x".repeat(9000);
  expect((await refusal(await ask(serving, `DPoP ${ann.token}`, long)))[2]).toContain(
    "maxTokenLength (8192)",
  );
});

test("a proof counts once", async () => {
  const serving = await serve();
  const proof = await ann.proof();
  expect((await ask(serving, `DPoP ${ann.token}`, proof)).status).toBe(200);
  const [status, , message] = await refusal(await ask(serving, `DPoP ${ann.token}`, proof));
  expect([status, message]).toEqual([401, expect.stringContaining("it was used before")]);
});

test("a proof counts once on all instances that share where they mark what was used", async () => {
  const usedStates = memoryUsedStates();
  const [one, other] = [await serve({}, whoami({ usedStates })), await serve({}, whoami({ usedStates }))];
  const proof = await ann.proof();
  expect((await ask(one, `DPoP ${ann.token}`, proof)).status).toBe(200);
  expect((await ask(other, `DPoP ${ann.token}`, proof)).status).toBe(401);
});

test("proofs are remembered up to a limit, of all and of one, and then for as long as they could come again", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const send = async (serving: HttpServing, { token, proof }: Holder) =>
    ask(serving, `DPoP ${token}`, await proof());
  const few = await serve({ dpop: { maxProofs: 2 } });
  expect([(await send(few, ann)).status, (await send(few, bob)).status]).toEqual([200, 200]);
  const refused = await send(few, ann);
  expect(refused.status).toBe(503);
  expect(((await refused.json()) as Json).error.data).toEqual({ limit: "maxProofs", value: 2 });
  vi.setSystemTime(Date.now() + 61_000);
  expect((await send(few, ann)).status).toBe(200);

  const fair = await serve({ dpop: { maxProofsPerPrincipal: 1 } });
  expect((await send(fair, ann)).status).toBe(200);
  const greedy = await send(fair, ann);
  expect(((await greedy.json()) as Json).error.data).toEqual({ limit: "maxProofsPerPrincipal", value: 1 });
  expect((await send(fair, bob)).status).toBe(200);
});

describe("a token", () => {
  test("that is bound to a key is nothing without a proof", async () => {
    const serving = await serve();
    const [status, challenge, message] = await refusal(await ask(serving, `Bearer ${ann.token}`, undefined));
    expect([status, message]).toEqual([401, expect.stringContaining("send it as DPoP, with a proof")]);
    expect(challenge).toContain('error="invalid_token"');
  });

  test("that is not bound is no DPoP token, whatever proof comes with it", async () => {
    const serving = await serve();
    const token = await idp.token();
    const proof = await ann.proof({ ath: await sha256(token) });
    const [status, , message] = await refusal(await ask(serving, `DPoP ${token}`, proof));
    expect([status, message]).toEqual([401, expect.stringContaining("it is not bound to a key")]);
    expect((await ask(serving, `Bearer ${token}`, undefined)).status).toBe(200);
  });

  test.each([
    [{ "x5t#S256": "x".repeat(43) }],
    [{ jkt: "x".repeat(43), "x5t#S256": "x".repeat(43) }],
    [{ jkt: 1 }],
    ["x"],
  ])("that is bound in another way is refused: %j", async (cnf) => {
    const serving = await serve();
    const token = await idp.token({ cnf });
    for (const scheme of ["Bearer", "DPoP"]) {
      const [status, , message] = await refusal(await ask(serving, `${scheme} ${token}`, undefined));
      expect([status, message]).toEqual([401, expect.stringContaining("cannot check (cnf)")]);
    }
  });

  test("that is bound is refused where no proof is to be checked, or no URL is known that it is for", async () => {
    const verify = jwtVerifier({ issuer: idp.origin, audience: "urn:mcp" });
    const nameless = { verify, authorizationServers: [] };
    const token = await idp.token({ aud: "urn:mcp", cnf: { jkt: ann.jkt } });
    for (const [auth, sent] of [
      [{ dpop: false }, ann.token],
      [nameless, token],
    ] as const) {
      const [status, , message] = await refusal(
        await ask(await serve(auth), `DPoP ${sent}`, await ann.proof()),
      );
      expect([status, message]).toEqual([401, expect.stringContaining("this server takes bearer tokens")]);
    }
  });

  test("whose issuer says that it is bound, and not to what, is refused", async () => {
    const about = { active: true, aud: AUDIENCE, sub: "ann", exp: now() + 600, token_type: "DPoP" };
    idp.opaque.set("vague", about).set("clear", { ...about, cnf: { jkt: ann.jkt } });
    const verify = introspection({
      issuer: idp.origin,
      endpoint: `${idp.origin}/introspect`,
      audience: AUDIENCE,
      clientId: "resource:1",
      clientSecret: "s&cret",
    });
    const serving = await serve({ verify });
    expect((await ask(serving, "Bearer vague", undefined)).status).toBe(401);
    expect((await ask(serving, "Bearer clear", undefined)).status).toBe(401);
    const proof = await ann.proof({ ath: await sha256("clear") });
    expect((await ask(serving, "DPoP clear", proof)).status).toBe(200);
  });
});

describe("where all tokens have to be bound", () => {
  test("others are refused, and the challenge and the metadata say so", async () => {
    const serving = await serve({ dpop: { required: true, algorithms: ["ES256"] } });
    const [status, challenge, message] = await refusal(
      await ask(serving, `Bearer ${await idp.token()}`, undefined),
    );
    expect([status, message]).toEqual([401, expect.stringContaining("bound to a key (DPoP)")]);
    expect(challenge).toMatch(/^DPoP error="invalid_token".*, algs="ES256"$/);
    const stranger = await fetch(serving.url, { method: "POST" });
    expect(stranger.headers.get("www-authenticate")).toMatch(/^DPoP resource_metadata=".*", algs="ES256"$/);
    const metadata = await fetch(new URL("/.well-known/oauth-protected-resource", serving.url));
    expect(await metadata.json()).toMatchObject({
      dpop_signing_alg_values_supported: ["ES256"],
      dpop_bound_access_tokens_required: true,
    });
    expect((await ask(serving, `DPoP ${ann.token}`, await ann.proof())).status).toBe(200);
  });

  test.each([
    [{ required: true }, "urn:mcp", "auth.dpop.publicUrl is missing"],
    [{ publicUrl: "mcp.example" }, AUDIENCE, 'auth.dpop.publicUrl: "mcp.example" is not a URL'],
    [{ algorithms: ["HS256"] }, AUDIENCE, "HS256 is no signature"],
    [{ algorithms: [] }, AUDIENCE, "none is no signature"],
    [{ maxProofAge: 10 }, AUDIENCE, "auth.dpop.maxProofAge"],
  ])("what would let in anybody is not served: %j", async (dpop, audience, why) => {
    const verify = jwtVerifier({ issuer: idp.origin, audience });
    await expect(serve({ dpop, verify, authorizationServers: [] })).rejects.toThrow(why);
  });
});

test("behind a balancer that takes a path off, proofs are for what clients see", async () => {
  const serving = await serve({ dpop: { publicUrl: "https://mcp.example/tools/" } });
  const at = async (htu: string) => ask(serving, `DPoP ${ann.token}`, await ann.proof({ htu }));
  expect((await at("https://mcp.example/tools/mcp")).status).toBe(200);
  expect((await at("https://mcp.example/mcp")).status).toBe(401);
});

test("nonces of ours are asked for, given, and renewed", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const stateSecrets = ["0123456789abcdef0123456789abcdef"];
  const [serving, other] = await Promise.all(
    [0, 1].map(() => serve({ dpop: { nonces: true } }, whoami({ stateSecrets }))),
  );
  const send = async (nonce?: string, to = serving) =>
    ask(to as HttpServing, `DPoP ${ann.token}`, await ann.proof({ nonce }));
  const asked = await send();
  const nonce = asked.headers.get("dpop-nonce") ?? "";
  expect((await refusal(asked)).slice(0, 2)).toEqual([
    401,
    expect.stringContaining('DPoP error="use_dpop_nonce"'),
  ]);
  const taken = await send(nonce);
  expect([taken.status, taken.headers.get("dpop-nonce")]).toEqual([200, null]);
  // Another instance with the same secrets takes it too.
  expect((await send(nonce, other)).status).toBe(200);
  vi.setSystemTime(Date.now() + 61_000);
  const renewed = await send(nonce);
  expect(renewed.status).toBe(200);
  const next = renewed.headers.get("dpop-nonce") ?? "";
  expect(next).not.toBe("");
  vi.setSystemTime(Date.now() + 61_000);
  expect((await send(nonce)).status).toBe(401);
  expect((await send(next)).status).toBe(200);
  for (const made of ["x", `${next}x`]) expect((await send(made)).status).toBe(401);
});

test("a 403 of such a token asks for another such", async () => {
  const serving = await serve({ scopes: ["read"] });
  const response = await ask(serving, `DPoP ${ann.token}`, await ann.proof());
  expect(response.status).toBe(403);
  expect(response.headers.get("www-authenticate")).toMatch(/^DPoP error="insufficient_scope", scope="read"/);
});
