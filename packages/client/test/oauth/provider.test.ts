/** A login at a real authorization server: metadata, registration, forms, code, token, refresh, step-up, logout. */

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { connect } from "../../src/index.ts";
import { login, logout, memoryStore, whoami } from "../../src/oauth.ts";
import { browserOf, type RealProvider, realProvider } from "./provider.ts";
import { type ProtectedSite, protectedSite } from "./world.ts";

let real: RealProvider;
let server: ProtectedSite;
/** Tokens by what they are worth at the server. */
const verified = new Map<string, string[]>();
const revoked = new Set<string>();

beforeEach(async () => {
  // The provider reminds who runs it in production.
  vi.spyOn(console, "warn").mockReturnValue();
  vi.spyOn(console, "info").mockReturnValue();
  real = await realProvider();
  server = await protectedSite(
    { origin: real.issuer, tokens: verified },
    {
      metadata: (origin) => ({
        resource: `${origin}/mcp`,
        authorization_servers: [real.issuer],
        scopes_supported: ["openid", "read"],
      }),
      takes: (token) => (revoked.has(token) ? undefined : real.verify(token, server.url)),
      needs: (tool) => (tool === "write" ? "write" : undefined),
    },
  );
});

afterEach(async () => {
  vi.restoreAllMocks();
  verified.clear();
  revoked.clear();
  await server.close();
  await real.close();
});

test("a user logs in, calls, is asked for more, and logs out", async () => {
  const store = memoryStore();
  const client = await connect(server.url, { auth: { store, onAuthorize: browserOf("ada") } });
  try {
    expect(real.paths).toContain("/reg");
    await client.callTool("print");
    expect(await whoami(server.url, store)).toMatchObject({
      server: server.url,
      issuer: real.issuer,
      resource: server.url,
      user: "ada",
      scopes: ["read"],
      refreshes: true,
    });
    await client.callTool("write");
    expect((await whoami(server.url, store))?.scopes).toEqual(["read", "write"]);
    const first = server.calls().at(-1)?.token ?? "";

    revoked.add(first);
    await client.callTool("write");
    const second = server.calls().at(-1)?.token ?? "";
    expect(second).not.toBe(first);
    expect(await real.verify(second, server.url)).toContain("write");
    expect(await real.verify(second, `${server.url}/other`)).toBeUndefined();

    const refreshToken = (await store.get("grant", server.url))?.refreshToken ?? "";
    expect(await real.provider.RefreshToken.find(refreshToken)).toBeDefined();
    expect(await logout(server.url, { store })).toEqual({ revoked: true });
    expect(await real.provider.RefreshToken.find(refreshToken)).toBeUndefined();
    expect(await whoami(server.url, store)).toBeUndefined();
    expect(await logout(server.url, { store })).toBeUndefined();
  } finally {
    await client.close();
  }
});

test("a refresh token is replaced each time, and a spent one that comes back ends all", async () => {
  const store = memoryStore();
  const account = await login(server.url, { store, onAuthorize: browserOf("ada") });
  expect(account.user).toBe("ada");
  const client = await connect(server.url, { auth: { store } });
  try {
    const seen: (string | undefined)[] = [];
    for (let times = 0; times < 3; times++) {
      seen.push((await store.get("grant", server.url))?.refreshToken);
      revoked.add((await store.get("grant", server.url))?.accessToken ?? "");
      await client.callTool("print");
    }
    expect(new Set(seen).size).toBe(3);
    const grant = await store.get("grant", server.url);
    if (grant === undefined) throw new Error("nothing is kept");
    await store.set("grant", server.url, { ...grant, refreshToken: seen[0] as string });
    revoked.add(grant.accessToken);
    await expect(client.callTool("print")).rejects.toMatchObject({ step: "login" });
  } finally {
    await client.close();
  }
});

test("two users each have their own", async () => {
  const [ada, bob] = [memoryStore(), memoryStore()];
  await login(server.url, { store: ada, onAuthorize: browserOf("ada") });
  await login(server.url, { store: bob, onAuthorize: browserOf("bob") });
  expect((await whoami(server.url, ada))?.user).toBe("ada");
  expect((await whoami(server.url, bob))?.user).toBe("bob");
});

test("a token that is bound to a key is asked for where the server wants one", async () => {
  const bound = await realProvider({ features: { dPoP: { enabled: true } } });
  const proofs: (string | undefined)[] = [];
  const guarded = await protectedSite(
    { origin: bound.issuer, tokens: verified },
    {
      metadata: (origin) => ({
        resource: `${origin}/mcp`,
        authorization_servers: [bound.issuer],
        scopes_supported: ["openid", "read"],
        dpop_bound_access_tokens_required: true,
      }),
      takes: (token) => bound.verify(token, guarded.url),
    },
  );
  const store = memoryStore();
  const client = await connect(guarded.url, { auth: { store, onAuthorize: browserOf("ada") } });
  try {
    await client.callTool("print");
    proofs.push(...guarded.heard.map(({ headers }) => headers.dpop as string | undefined).filter(Boolean));
    expect(guarded.heard.at(-1)?.headers.authorization).toMatch(/^DPoP /);
    expect(new Set(proofs).size).toBe(2);
    expect((await store.get("grant", guarded.url))?.tokenType).toBe("dpop");
  } finally {
    await client.close();
    await guarded.close();
    await bound.close();
  }
});
