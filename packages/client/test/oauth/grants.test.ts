/** Tokens without a user, and tokens that are bound to a key. */

import { createHash } from "node:crypto";
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
} from "jose";
import { describe, expect, test } from "vitest";
import { AuthorizationError, connect } from "../../src/index.ts";
import { memoryStore } from "../../src/oauth.ts";
import { type AuthorizationSite, agreeing, type Heard, json, type Quirks, site, stage } from "./world.ts";

const { world, connected, closes } = stage();

const tokenRequests = ({ heard }: AuthorizationSite): Heard[] =>
  heard.filter(({ path }) => path === "/token");
const form = ({ form }: Heard) => Object.fromEntries(form);

describe("client credentials", () => {
  const grant = { type: "client_credentials" } as const;
  const secret = { clientId: "me", clientSecret: "secret", grant };

  test("show the secret in the header where that is taken", async () => {
    const { authorization, server } = await world({}, { challenge: 'scope="read"' });
    await connected(server.url, { ...secret, issuer: authorization.origin });
    const [request] = tokenRequests(authorization);
    expect(request?.headers.authorization).toBe(`Basic ${Buffer.from("me:secret").toString("base64")}`);
    expect(form(request as Heard)).toEqual({
      grant_type: "client_credentials",
      resource: server.url,
      scope: "read",
    });
    expect(authorization.heard.map(({ path }) => path)).not.toContain("/register");
  });

  test("show it in the body where only that is taken, or is asked for", async () => {
    const { authorization, server } = await world({
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_post"] },
    });
    await connected(server.url, { ...secret, issuer: authorization.origin });
    const other = await world();
    const issuer = other.authorization.origin;
    await connected(other.server.url, { ...secret, issuer, clientAuthMethod: "client_secret_post" });
    for (const [request] of [tokenRequests(authorization), tokenRequests(other.authorization)]) {
      expect(request?.headers.authorization).toBeUndefined();
      expect(form(request as Heard)).toMatchObject({ client_id: "me", client_secret: "secret" });
    }
  });

  test.each(["PEM", "JWK"])("may be a signature by a key (%s), for this issuer alone", async (kind) => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const key =
      kind === "PEM" ? await exportPKCS8(privateKey) : { ...(await exportJWK(privateKey)), kid: "k1" };
    const { authorization, server } = await world();
    await connected(server.url, { clientId: "me", privateKey: { key }, grant });
    const [request] = tokenRequests(authorization);
    const assertion = request?.form.get("client_assertion") ?? "";
    const { payload } = await jwtVerify(assertion, publicKey, {
      audience: authorization.origin,
      issuer: "me",
      subject: "me",
    });
    expect(payload.jti).toBeDefined();
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBeLessThanOrEqual(60);
    expect(request?.form.get("client_assertion_type")).toBe(
      "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    );
    expect(JSON.stringify([...authorization.heard, ...server.heard])).not.toContain(
      typeof key === "string" ? key.slice(60, 100) : (key as { d: string }).d,
    );
  });

  test("get the next token before the last ends, and another when it is refused", async () => {
    const { authorization, server } = await world({ expiresIn: 0 });
    const client = await connected(server.url, { ...secret, issuer: authorization.origin });
    await client.callTool("print");
    // One for the connection, one before each request with a token that is over.
    expect(tokenRequests(authorization)).toHaveLength(3);
    authorization.tokens.clear();
    await client.callTool("print");
    expect(new Set(tokenRequests(authorization).map((each) => each.form.get("grant_type")))).not.toContain(
      "authorization_code",
    );
  });

  test("ask for more where a tool needs more", async () => {
    const { authorization, server } = await world({}, { challenge: 'scope="read"', needs: () => "write" });
    const client = await connected(server.url, { ...secret, issuer: authorization.origin });
    await client.callTool("print");
    expect(tokenRequests(authorization).map((each) => each.form.get("scope"))).toEqual([
      "read",
      "read write",
    ]);
  });

  test("are declared as the extension that they are", async () => {
    const { authorization, server } = await world();
    await connected(server.url, { ...secret, issuer: authorization.origin });
    const meta = JSON.stringify(server.heard.at(-1)?.json);
    expect(meta).toContain('"extensions":{"io.modelcontextprotocol/oauth-client-credentials":{}}');
  });

  test.each([{ grant }, { grant, clientId: "me" }])("need to be complete (%j)", async (auth) => {
    await expect(connect("http://127.0.0.1:9/", { auth })).rejects.toThrow(
      "takes a clientId with a clientSecret",
    );
  });

  test("with a key that is none say so, without it", async () => {
    const { server } = await world();
    const auth = { clientId: "me", privateKey: { key: "canary" }, grant };
    const error = await connect(server.url, { auth }).catch((thrown) => thrown);
    expect(String(error)).toContain("no private key");
    expect(String(error)).not.toContain("canary");
  });
});

describe("a JWT that vouches for a workload", () => {
  const made = async (audience: string) =>
    new SignJWT({ sub: "job" })
      .setProtectedHeader({ alg: "ES256" })
      .setAudience(audience)
      .sign((await generateKeyPair("ES256")).privateKey);

  test("is exchanged for a token", async () => {
    const { authorization, server } = await world({}, { challenge: 'scope="read"' });
    const assertion = await made(authorization.origin);
    await connected(server.url, { clientId: "job", grant: { type: "jwt_bearer", assertion } });
    expect(form(tokenRequests(authorization)[0] as Heard)).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion,
      resource: server.url,
      scope: "read",
      client_id: "job",
    });
  });

  test("is made for the authorization server by a function, and needs no client id", async () => {
    const { authorization, server } = await world();
    const told: unknown[] = [];
    const assertion = (context: { issuer: string }) => {
      told.push(context);
      return made(context.issuer);
    };
    await connected(server.url, { grant: { type: "jwt_bearer", assertion } });
    expect(told).toEqual([
      {
        issuer: authorization.origin,
        tokenEndpoint: `${authorization.origin}/token`,
        resource: server.url,
        scope: undefined,
      },
    ]);
    expect(tokenRequests(authorization)[0]?.form.has("client_id")).toBe(false);
  });

  test.each([() => made("https://honest.example"), async () => "not a JWT"])(
    "is not sent to an authorization server that it is not for",
    async (make) => {
      const { authorization, server } = await world();
      const grant = { type: "jwt_bearer" as const, assertion: await make() };
      const error = await connect(server.url, { auth: { grant } }).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: "AuthorizationError", step: "token" });
      expect(error.message).toContain("it is not sent there");
      expect(tokenRequests(authorization)).toEqual([]);
    },
  );

  test.each(["invalid_grant", "invalid_scope", "unauthorized_client"])(
    "that is answered by %s is not tried again, nor in another way",
    async (code) => {
      const { authorization, server } = await world({
        quirks: { "/token": () => json({ error: code }, 400) },
      });
      const grant = { type: "jwt_bearer" as const, assertion: await made(authorization.origin) };
      const error = await connect(server.url, { auth: { grant, onAuthorize: agreeing } }).catch(
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ step: "token", code });
      expect(authorization.heard.filter(({ verb }) => verb === "POST")).toHaveLength(1);
    },
  );
});

describe("an enterprise's identity provider", () => {
  const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

  async function company(
    answer: object = { access_token: "the-jag", issued_token_type: ID_JAG, token_type: "N_A" },
  ) {
    const idp = await site(() => json(answer));
    closes(idp.close);
    const { authorization, server } = await world({}, { challenge: 'scope="read"' });
    const auth = {
      clientId: "me",
      clientSecret: "secret",
      issuer: authorization.origin,
      grant: {
        type: "enterprise_managed" as const,
        idp: { tokenEndpoint: `${idp.origin}/token`, clientId: "at-idp" },
        idToken: async () => "the-id-token",
      },
    };
    return { idp, authorization, server, auth };
  }

  test("is asked for a grant for this server, which is exchanged for a token", async () => {
    const { idp, authorization, server, auth } = await company();
    await connected(server.url, auth);
    expect(form(idp.heard[0] as Heard)).toEqual({
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      requested_token_type: ID_JAG,
      audience: authorization.origin,
      resource: server.url,
      scope: "read",
      subject_token: "the-id-token",
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
      client_id: "at-idp",
    });
    const [request] = tokenRequests(authorization);
    expect(request?.headers.authorization).toMatch(/^Basic /);
    expect(form(request as Heard)).toMatchObject({
      grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
      assertion: "the-jag",
    });
    expect(JSON.stringify([...authorization.heard, ...server.heard])).not.toContain("the-id-token");
  });

  test("that gives something else is not believed", async () => {
    const { server, auth, authorization } = await company({ access_token: "x", token_type: "N_A" });
    const error = await connect(server.url, { auth }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AuthorizationError);
    expect(error.message).toContain("no ID-JAG");
    expect(tokenRequests(authorization)).toEqual([]);
  });
});

describe("a token that is bound to a key", () => {
  /** The claims of a proof, its signature checked by the key that it brings. */
  async function proofOf({ headers }: Heard): Promise<Record<string, unknown>> {
    const proof = String(headers.dpop);
    const header = JSON.parse(Buffer.from(proof.split(".")[0] ?? "", "base64url").toString());
    expect(header).toMatchObject({ typ: "dpop+jwt", alg: "ES256" });
    expect(header.jwk).not.toHaveProperty("d");
    const { payload } = await jwtVerify(proof, await importJWK(header.jwk, "ES256"));
    return { ...payload, jkt: await calculateJwkThumbprint(header.jwk) };
  }

  /** Both want a nonce, where `nonces`; the token is a DPoP token. */
  async function bound(nonces: boolean) {
    let count = 0;
    const wants = async (heard: Heard, nonce: string) => nonces && (await proofOf(heard)).nonce !== nonce;
    const token: Quirks["/token"] = async (heard) => {
      if (await wants(heard, "as-nonce"))
        return json({ error: "use_dpop_nonce" }, 400, { "dpop-nonce": "as-nonce" });
      const access = `access-${count++}`;
      authorization.tokens.set(access, []);
      return json({
        access_token: access,
        token_type: "DPoP",
        refresh_token: `refresh-${count}`,
        expires_in: 3600,
      });
    };
    const { authorization, server } = await world(
      { quirks: { "/token": token } },
      {
        quirks: {
          "/mcp": async (heard) => {
            if (heard.headers.authorization === undefined)
              return json({}, 401, { "www-authenticate": 'DPoP algs="ES256"' });
            const challenge = { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "rs-nonce" };
            return (await wants(heard, "rs-nonce")) ? json({}, 401, challenge) : undefined;
          },
        },
      },
    );
    return { authorization, server };
  }

  test.each([false, true])("has a proof of its own on each request (nonces: %j)", async (nonces) => {
    const { authorization, server } = await bound(nonces);
    const store = memoryStore();
    const client = await connected(server.url, { store, onAuthorize: agreeing });
    await client.callTool("print");
    const [jkt] = authorization.logins().map((login) => login.get("dpop_jkt"));
    const atToken = await Promise.all(tokenRequests(authorization).map(proofOf));
    expect(atToken).toHaveLength(nonces ? 2 : 1);
    expect(atToken.at(-1)).toMatchObject({ htm: "POST", htu: `${authorization.origin}/token`, jkt });
    const carrying = server.heard.filter(({ headers }) => headers.dpop !== undefined);
    const proofs = await Promise.all(carrying.map(proofOf));
    expect(carrying).toHaveLength(nonces ? 3 : 2);
    const ath = createHash("sha256").update("access-0").digest("base64url");
    for (const proof of proofs) expect(proof).toMatchObject({ htm: "POST", htu: server.url, ath, jkt });
    expect(new Set(proofs.map(({ jti }) => jti)).size).toBe(proofs.length);
    expect(proofs.at(-1)?.nonce).toBe(nonces ? "rs-nonce" : undefined);
    expect(carrying.every(({ headers }) => headers.authorization === "DPoP access-0")).toBe(true);

    // Another process has the same key, and refreshes with it.
    const again = await connected(server.url, { store });
    authorization.tokens.clear();
    await again.callTool("print");
    const last = await proofOf(server.heard.at(-1) as Heard);
    expect(last.jkt).toBe(jkt);
    expect((await proofOf(tokenRequests(authorization).at(-1) as Heard)).jkt).toBe(jkt);
  });

  test("is not asked for ever for another nonce", async () => {
    const { authorization, server } = await world(
      { quirks: { "/token": () => json({ access_token: "x", token_type: "DPoP" }) } },
      {
        quirks: {
          "/mcp": ({ headers }) =>
            headers.authorization === undefined
              ? json({}, 401, { "www-authenticate": "DPoP" })
              : json({}, 401, { "www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": "n" }),
        },
      },
    );
    await expect(connect(server.url, { auth: { onAuthorize: agreeing } })).rejects.toMatchObject({
      status: 401,
    });
    expect(server.calls().length).toBeLessThanOrEqual(4);
    expect(authorization.logins()).toHaveLength(1);
  });

  test("is followed by such a token, though the server does not say again that it wants one", async () => {
    let count = 0;
    const { authorization, server } = await world(
      {
        quirks: {
          "/token": ({ headers }) => {
            const access = `access-${count++}`;
            authorization.tokens.set(access, []);
            const type = headers.dpop === undefined ? "Bearer" : "DPoP";
            return json({ access_token: access, token_type: type, expires_in: 0 });
          },
        },
      },
      {
        quirks: {
          "/mcp": ({ headers }) =>
            headers.authorization === undefined ? json({}, 401, { "www-authenticate": "DPoP" }) : undefined,
        },
      },
    );
    const grant = { type: "client_credentials" } as const;
    const auth = { clientId: "me", clientSecret: "secret", issuer: authorization.origin, grant };
    const client = await connected(server.url, auth);
    await client.callTool("print");
    expect(count).toBeGreaterThan(1);
    expect(tokenRequests(authorization).every(({ headers }) => headers.dpop !== undefined)).toBe(true);
    expect(server.heard.at(-1)?.headers.authorization).toMatch(/^DPoP /);
  });

  test("is not asked for where the server does not want it", async () => {
    const { authorization, server } = await world({
      metadata: { dpop_signing_alg_values_supported: ["ES256"] },
    });
    await connected(server.url, { onAuthorize: agreeing });
    expect(authorization.logins()[0]?.has("dpop_jkt")).toBe(false);
    expect(tokenRequests(authorization)[0]?.headers.dpop).toBeUndefined();
  });
});
