/** Who gets in: a good token with every request, over every HTTP wire, and nothing else. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { hashKey, introspection, jwtVerifier, RefusedTokenError, staticKeys } from "../../src/auth.ts";
import { serveFetch } from "../../src/transports/fetch.ts";
import { type AuthOptions, type HttpServing, httpHandler } from "../../src/transports/http.ts";
import { HEADERS } from "../streamable.ts";
import { INITIALIZE, MODERN_META } from "../wire.ts";
import { answerOf, bearer, call, guarded, legacy, modern, textOf, whoami } from "./guarded.ts";
import { AUDIENCE, type Issuer, issuer } from "./issuer.ts";

let idp: Issuer;
const open: { close(): Promise<void> | void }[] = [];
beforeAll(async () => {
  idp = await issuer();
});
afterAll(() => idp.close());
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((each) => each.close()));
});

const byJwt = (options = {}) => jwtVerifier({ issuer: idp.origin, audience: AUDIENCE, ...options });

async function serve(auth: AuthOptions, errors: unknown[] = []): Promise<HttpServing> {
  const serving = await guarded(whoami({ onError: (error) => errors.push(error) }), auth);
  open.push(serving);
  return serving;
}

const MODERN_CALL = {
  method: "POST",
  headers: {
    ...HEADERS,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "whoami",
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "whoami", _meta: MODERN_META },
  }),
};
const LEGACY_CALL = { method: "POST", headers: HEADERS, body: JSON.stringify(call(1, "whoami")) };
const OPENING = { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE };

/** Each way in: a request that a good token gets through, and its status then. */
const DOORS: [name: string, path: string, init: RequestInit, status: number][] = [
  ["a modern POST", "/mcp", MODERN_CALL, 200],
  ["initialize", "/mcp", { ...LEGACY_CALL, body: JSON.stringify(OPENING) }, 200],
  ["a legacy POST", "/mcp", LEGACY_CALL, 400],
  ["a batch", "/mcp", { ...LEGACY_CALL, body: JSON.stringify([call(1, "whoami")]) }, 400],
  [
    "a notification",
    "/mcp",
    { ...LEGACY_CALL, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' },
    400,
  ],
  ["a GET stream", "/mcp", { headers: { accept: "text/event-stream" } }, 400],
  ["a DELETE", "/mcp", { method: "DELETE" }, 400],
  ["HTTP+SSE, the stream", "/sse", { headers: { accept: "text/event-stream" } }, 200],
  ["HTTP+SSE, a message", "/messages?sessionId=x", LEGACY_CALL, 404],
];

describe.each(DOORS)("%s", (_name, path, init, status) => {
  test("without a token is a 401 that says where to log in", async () => {
    const serving = await serve({ verify: byJwt(), scopes: ["use"] });
    const response = await fetch(new URL(path, serving.url), init);
    expect(response.status).toBe(401);
    // RFC 6750 § 3.1: who sent none has made no error.
    expect(response.headers.get("www-authenticate")).toBe(
      'Bearer scope="use", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"',
    );
    expect(await response.text()).not.toContain("whoami");
  });

  test("with a bad token is a 401 that says so", async () => {
    const serving = await serve({ verify: byJwt() });
    const token = await idp.token({ aud: "https://other.example/mcp" });
    const headers = { ...(init.headers as Record<string, string>), ...bearer(token) };
    const response = await fetch(new URL(path, serving.url), { ...init, headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toMatch(
      /^Bearer error="invalid_token", error_description="its aud is not what it has to be", resource_metadata=/,
    );
  });

  test("with a good token gets through", async () => {
    const serving = await serve({ verify: byJwt() });
    const headers = { ...(init.headers as Record<string, string>), ...bearer(await idp.token()) };
    const abort = new AbortController();
    const response = await fetch(new URL(path, serving.url), { ...init, headers, signal: abort.signal });
    expect(response.status).toBe(status);
    abort.abort();
  });

  test("with a token that lacks a scope which all need is a 403 that names it", async () => {
    const serving = await serve({ verify: byJwt(), scopes: ["use", "see"] });
    const headers = {
      ...(init.headers as Record<string, string>),
      ...bearer(await idp.token({ scope: "see" })),
    };
    const response = await fetch(new URL(path, serving.url), { ...init, headers });
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toMatch(
      /^Bearer error="insufficient_scope", scope="use see", resource_metadata=/,
    );
  });
});

test("the handler of an endpoint, and the fetch face, are guarded too", async () => {
  const handler = httpHandler(whoami(), "127.0.0.1", { auth: { verify: byJwt() } });
  const http = createServer(handler);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => new Promise((resolve) => http.close(() => resolve())) });
  const at = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const web = serveFetch(whoami(), { allowedHosts: ["mcp.example"], auth: { verify: byJwt() } });
  const doors: ((path: string, init: RequestInit) => Promise<Response>)[] = [
    (path, init) => fetch(`${at}${path}`, init),
    (path, init) => web.fetch(new Request(`https://mcp.example${path}`, init)),
  ];
  for (const door of doors) {
    expect((await door("/mcp", MODERN_CALL)).status).toBe(401);
    const headers = { ...MODERN_CALL.headers, ...bearer(await idp.token()) };
    const answered = await answerOf(door("/mcp", { ...MODERN_CALL, headers }));
    expect(JSON.parse(textOf(answered))).toMatchObject({ issuer: idp.origin, subject: "ann" });
    const metadata = await door("/.well-known/oauth-protected-resource/mcp", {});
    expect(await metadata.json()).toMatchObject({ resource: AUDIENCE, authorization_servers: [idp.origin] });
  }
});

test("handlers are told who asks, and not the token", async () => {
  const serving = await serve({ verify: byJwt() });
  const exp = Math.floor(Date.now() / 1000) + 600;
  const token = await idp.token({ sub: "bob", scope: "read write", exp });
  const text = textOf(await answerOf(modern(serving, token, "tools/call", { name: "whoami" })));
  expect(JSON.parse(text)).toMatchObject({
    issuer: idp.origin,
    subject: "bob",
    clientId: "app",
    scopes: ["read", "write"],
    expiresAt: exp * 1000,
    claims: { sub: "bob", aud: AUDIENCE },
  });
  for (const part of token.split(".").slice(0, 3)) expect(text).not.toContain(part);
});

test("without auth there is nobody to tell of", async () => {
  const serving = await guarded(whoami(), undefined);
  open.push(serving);
  const answered = await answerOf(modern(serving, "anything", "tools/call", { name: "whoami" }));
  expect(textOf(answered)).toBe("null");
});

test("a token in the URL is refused, good as it may be", async () => {
  const serving = await serve({ verify: byJwt() });
  const response = await fetch(`${serving.url}?access_token=${await idp.token()}`, MODERN_CALL);
  expect(response.status).toBe(400);
  expect(response.headers.get("www-authenticate")).toContain('error="invalid_request"');
});

describe("a JWT is refused", () => {
  const past = Math.floor(Date.now() / 1000) - 60;
  test.each([
    ["of another issuer", { iss: "https://other.example" }],
    ["for another audience", { aud: ["https://other.example/mcp", "https://mcp.example"] }],
    ["for no audience", { aud: undefined }],
    ["that has expired", { exp: past }],
    ["that never expires", { exp: undefined }],
    ["that counts later", { nbf: past + 3600 }],
    ["that does not say whose it is", { sub: undefined, client_id: undefined }],
    ["that is bound to a key", { cnf: { jkt: "x" } }],
    ["of a user who is called as a client without a subject is", { sub: "client app" }],
  ])("%s", async (_name, claims) => {
    const serving = await serve({ verify: byJwt() });
    expect((await modern(serving, await idp.token(claims), "tools/list")).status).toBe(401);
    expect((await modern(serving, await idp.token(), "tools/list")).status).toBe(200);
  });

  test("that ended, or counts later, by less than clocks may differ is a good one, and by more is not", async () => {
    const serving = await serve({ verify: byJwt({ clockTolerance: 120 }) });
    const now = Math.floor(Date.now() / 1000);
    const status = async (claims: object) =>
      (await modern(serving, await idp.token({ ...claims }), "tools/list")).status;
    expect(await status({ exp: now - 60 })).toBe(200);
    expect(await status({ nbf: now + 60 })).toBe(200);
    expect(await status({ exp: now - 180 })).toBe(401);
    expect(await status({ nbf: now + 180 })).toBe(401);
  });

  test("that nobody signed, that our public key signed, or that was changed", async () => {
    const serving = await serve({ verify: byJwt() });
    const claims = { iss: idp.origin, aud: AUDIENCE, sub: "eve", exp: past + 3600 };
    const key = await importJWK(idp.publicKey(), "ES256", { extractable: true });
    const secret = new TextEncoder().encode(await exportSPKI(key as CryptoKey));
    const good = await idp.token();
    const [header = "", payload = "", signature = ""] = good.split(".");
    const other = Buffer.from(JSON.stringify({ ...claims, sub: "root" })).toString("base64url");
    const bad = [
      new UnsecuredJWT(claims).encode(),
      await new SignJWT(claims)
        .setProtectedHeader({ alg: "HS256", kid: idp.publicKey().kid ?? "" })
        .sign(secret),
      [header, other, signature].join("."),
      [header, payload, ""].join("."),
      `${good}x`,
      "x",
      "a.b.c",
    ];
    for (const token of bad) expect((await modern(serving, token, "tools/list")).status).toBe(401);
    for (const scheme of ["Basic", "DPoP", "Token"]) {
      const headers = { ...MODERN_CALL.headers, authorization: `${scheme} ${good}` };
      expect((await fetch(serving.url, { ...MODERN_CALL, headers })).status).toBe(401);
    }
  });

  test("by a verifier that would take weak signatures, or any audience: it is not made", () => {
    expect(() => byJwt({ algorithms: ["ES256", "none"] })).toThrow("none is no signature");
    expect(() => byJwt({ algorithms: ["HS256"] })).toThrow("HS256 is no signature");
    expect(() => byJwt({ audience: [] })).toThrow("audience is missing");
    expect(() => byJwt({ audience: undefined as unknown as string })).toThrow("audience is missing");
    expect(() => byJwt({ issuer: "http://idp.example" })).toThrow("is not a URL with https");
  });

  test("signed by an algorithm that is not allowed", async () => {
    const serving = await serve({ verify: byJwt({ algorithms: ["RS256"] }) });
    expect((await modern(serving, await idp.token(), "tools/list")).status).toBe(401);
  });
});

describe("keys", () => {
  test("are fetched once, and again when they rotate", async () => {
    const own = await issuer();
    open.push(own);
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const serving = await serve({ verify: jwtVerifier({ issuer: own.origin, audience: AUDIENCE }) });
    const status = async (token: string) => (await modern(serving, token, "tools/list")).status;
    const tokens = await Promise.all([1, 2, 3, 4].map((jti) => own.token({ jti: `${jti}` })));
    expect(await Promise.all(tokens.map(status))).toEqual([200, 200, 200, 200]);
    expect(own.asked).toEqual(["/.well-known/oauth-authorization-server", "/jwks"]);
    await own.rotate();
    // Who invents keys does not make us ask each time.
    const late = await own.token({ jti: "5" });
    expect(await status(late)).toBe(401);
    expect(own.asked.length).toBe(2);
    vi.advanceTimersByTime(31_000);
    expect(await status(await own.token({ jti: "6" }))).toBe(200);
    expect(own.asked.filter((path) => path === "/jwks").length).toBe(2);
  });

  test.each([
    ["are not to be had", { status: 500 }],
    ["are elsewhere", { status: 302, headers: { location: "/jwks2" } }],
    ["never end", { body: `{"keys":[],"x":"${"x".repeat(300_000)}"}` }],
    ["are none", { body: "[]" }],
  ])("that %s let nobody in, and the operator is told", async (_name, quirk) => {
    const own = await issuer();
    open.push(own);
    own.quirks.set("/jwks", quirk);
    own.quirks.set("/jwks2", { body: JSON.stringify({ keys: [own.publicKey()] }) });
    vi.useFakeTimers({ toFake: ["performance"] });
    const errors: unknown[] = [];
    const serving = await serve({ verify: jwtVerifier({ issuer: own.origin, audience: AUDIENCE }) }, errors);
    const response = await modern(serving, await own.token(), "tools/list");
    expect(response.status).toBe(401);
    expect(await response.text()).toContain("the token could not be verified");
    expect(errors.length).toBe(1);
    own.quirks.clear();
    // Who sends tokens without end does not have them fetched without end.
    for (const jti of ["2", "3"])
      expect((await modern(serving, await own.token({ jti }), "tools/list")).status).toBe(401);
    expect(own.asked.filter((path) => path === "/jwks").length).toBe(1);
    vi.advanceTimersByTime(5000);
    expect((await modern(serving, await own.token({ jti: "4" }), "tools/list")).status).toBe(200);
  });

  test("of metadata that is another issuer's are not used", async () => {
    const own = await issuer();
    open.push(own);
    const body = JSON.stringify({ issuer: "https://honest.example", jwks_uri: `${own.origin}/jwks` });
    own.quirks.set("/.well-known/oauth-authorization-server", { body });
    const serving = await serve({ verify: jwtVerifier({ issuer: own.origin, audience: AUDIENCE }) });
    expect((await modern(serving, await own.token(), "tools/list")).status).toBe(401);
    expect(own.asked).not.toContain("/jwks");
  });
});

describe("a verifier of one's own", () => {
  const good = { issuer: "https://own.example", subject: "ann" };

  test.each([
    ["throws", () => Promise.reject(new Error("database is on fire"))],
    [
      "throws at once",
      () => {
        throw new Error("database is on fire");
      },
    ],
    ["says nothing", () => undefined as never],
    ["says no subject", () => ({ ...good, subject: "" })],
    ["gives a token that has expired", () => ({ ...good, expiresAt: Date.now() - 1 })],
    ["gives no number for its end", () => ({ ...good, expiresAt: Number.NaN })],
  ])("that %s lets nobody in, and its words stay here", async (_name, verify) => {
    const serving = await serve({ verify });
    const response = await modern(serving, "t", "tools/list");
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain("database");
    expect(response.headers.get("www-authenticate")).not.toContain("database");
  });

  test("that never answers is not waited for", async () => {
    let signal: AbortSignal | undefined;
    const verify = (_: string, given: AbortSignal) => {
      signal = given;
      return new Promise<never>(() => {});
    };
    const serving = await serve({ verify, verifyTimeout: 20 });
    expect((await modern(serving, "t", "tools/list")).status).toBe(401);
    expect(signal?.aborted).toBe(true);
  });

  test("is asked once for a token, until that expires, and no longer", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const verify = vi.fn(() => ({ ...good, expiresAt: Date.now() + 60_000 }));
    const serving = await serve({ verify });
    const status = async () => (await modern(serving, "t", "tools/list")).status;
    expect(await Promise.all([status(), status(), status()])).toEqual([200, 200, 200]);
    expect(verify).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + 59_999);
    await status();
    expect(verify).toHaveBeenCalledTimes(1);
    vi.setSystemTime(Date.now() + 1);
    await status();
    expect(verify).toHaveBeenCalledTimes(2);
  });

  test("is asked each time where a token does not say when it expires, or was refused", async () => {
    const verify = vi.fn((token: string) => {
      if (token === "bad") throw new RefusedTokenError('it is <bad>"\r\n');
      return good;
    });
    const serving = await serve({ verify });
    for (const token of ["good", "good", "bad", "bad"]) await modern(serving, token, "tools/list");
    expect(verify).toHaveBeenCalledTimes(4);
    const refused = await modern(serving, "bad", "tools/list");
    expect(refused.headers.get("www-authenticate")).toContain("it is <bad>'''");
  });

  test("remembers a bounded number of tokens", async () => {
    const verify = vi.fn(() => ({ ...good, expiresAt: Date.now() + 60_000 }));
    const serving = await serve({ verify, maxRemembered: 4 });
    for (let i = 0; i < 20; i++) await modern(serving, `t${i}`, "tools/list");
    await modern(serving, "t0", "tools/list");
    expect(verify).toHaveBeenCalledTimes(21);
    await modern(serving, "t19", "tools/list");
    expect(verify).toHaveBeenCalledTimes(21);
  });

  test("has a bounded number of tokens in its hands; one more is a 503", async () => {
    let release = () => {};
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    let begun = () => {};
    const began = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const verify = async () => {
      begun();
      await waiting;
      return good;
    };
    const serving = await serve({ verify, maxVerifying: 1 });
    const first = modern(serving, "a", "tools/list");
    await began;
    const second = await modern(serving, "b", "tools/list");
    expect(second.status).toBe(503);
    expect(await second.text()).toContain("maxVerifying");
    release();
    expect((await first).status).toBe(200);
  });

  test("is not handed what is too long to be a token", async () => {
    const verify = vi.fn(() => good);
    const serving = await serve({ verify, maxTokenLength: 100 });
    expect((await modern(serving, "x".repeat(101), "tools/list")).status).toBe(401);
    expect(verify).not.toHaveBeenCalled();
  });
});

describe("an opaque token", () => {
  const claims = { active: true, iss: "", aud: AUDIENCE, sub: "ann", scope: "read", token_type: "Bearer" };
  const byIntrospection = (options = {}) =>
    introspection({
      issuer: idp.origin,
      endpoint: `${idp.origin}/introspect`,
      audience: AUDIENCE,
      clientId: "resource:1",
      clientSecret: "s&cret",
      ...options,
    });
  const exp = () => Math.floor(Date.now() / 1000) + 600;

  test("counts as its issuer says, for as long as that is believed", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const serving = await serve({ verify: byIntrospection() });
    idp.opaque.set("o1", { ...claims, iss: idp.origin, exp: exp() });
    const answered = await answerOf(modern(serving, "o1", "tools/call", { name: "whoami" }));
    expect(JSON.parse(textOf(answered))).toMatchObject({ subject: "ann", scopes: ["read"] });
    idp.opaque.delete("o1");
    expect((await modern(serving, "o1", "tools/list")).status).toBe(200);
    vi.setSystemTime(Date.now() + 60_001);
    expect((await modern(serving, "o1", "tools/list")).status).toBe(401);
  });

  test.each([
    ["that does not count", { active: false }],
    ["that might count", { active: "true" }],
    ["of another issuer", { iss: "https://other.example" }],
    ["for another audience", { aud: "https://other.example" }],
    ["for no audience", { aud: undefined }],
    ["that is no access token", { token_type: "refresh_token" }],
    ["that has expired", { exp: 1 }],
  ])("%s is refused", async (_name, others) => {
    const serving = await serve({ verify: byIntrospection() });
    idp.opaque.set("o2", { ...claims, iss: idp.origin, exp: exp(), ...others });
    expect((await modern(serving, "o2", "tools/list")).status).toBe(401);
    idp.opaque.set("o3", { ...claims, iss: idp.origin, exp: exp() });
    expect((await modern(serving, "o3", "tools/list")).status).toBe(200);
  });

  test("is refused when its issuer does not know us, and the operator is told", async () => {
    const errors: unknown[] = [];
    const serving = await serve({ verify: byIntrospection({ clientSecret: "wrong" }) }, errors);
    idp.opaque.set("o4", { ...claims, exp: exp() });
    expect((await modern(serving, "o4", "tools/list")).status).toBe(401);
    expect(String(errors[0])).toContain("are the credentials right?");
  });
});

describe("a static key", () => {
  const KEY = "0123456789abcdef0123456789abcdef";

  test("is known by its hash alone", async () => {
    const hash = await hashKey(KEY);
    expect(hash).toMatch(/^sha256:[\w-]{43}$/);
    const keys = [
      { hash: await hashKey(`${KEY}-other`), subject: "other" },
      { hash, subject: "ci", scopes: ["deploy"] },
    ];
    const serving = await serve({ verify: staticKeys(keys) });
    const answered = await answerOf(modern(serving, KEY, "tools/call", { name: "whoami" }));
    expect(JSON.parse(textOf(answered))).toMatchObject({ subject: "ci", scopes: ["deploy"] });
    for (const wrong of [`${KEY}x`, KEY.slice(1), hash, hash.slice(7)]) {
      const refused = await modern(serving, wrong, "tools/list");
      expect(refused.status).toBe(401);
      // There is nobody to log in at.
      expect(refused.headers.get("www-authenticate")).not.toContain("resource_metadata");
    }
    expect((await fetch(new URL("/.well-known/oauth-protected-resource/mcp", serving.url))).status).toBe(404);
  });

  test("ends when it should", async () => {
    const verify = staticKeys([
      { hash: await hashKey(KEY), subject: "ci", expires: new Date(Date.now() - 1) },
    ]);
    expect((await modern(await serve({ verify }), KEY, "tools/list")).status).toBe(401);
  });

  test("that could be guessed, or is no hash, is not taken", async () => {
    await expect(hashKey("short")).rejects.toThrow("at least 32 characters");
    expect(() => staticKeys([{ hash: KEY, subject: "ci" }])).toThrow("is not as hashKey() gives it");
  });
});

test("what stays open ends when its token expires", async () => {
  const verify = (token: string) => ({ issuer: "i", subject: "ann", expiresAt: Number(token) });
  const serving = await serve({ verify });
  const soon = `${Date.now() + 3000}`;
  const later = `${Date.now() + 600_000}`;
  const session = await legacy(serving, later);
  const opened = await Promise.all([
    session.get(soon),
    fetch(new URL("/sse", serving.url), { headers: { accept: "text/event-stream", ...bearer(soon) } }),
    modern(serving, soon, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
  ]);
  expect(opened.map(({ status }) => status)).toEqual([200, 200, 200]);
  // Each of them ends, or this test does not.
  const [, , subscription] = await Promise.all(opened.map((response) => response.text()));
  expect(subscription).toContain('"result"');
  expect((await session.post(call(1, "whoami"))).status).toBe(200);
});
