/** A user logs in, once: what is asked for, what is kept, refreshed, and asked for again. */

import { afterEach, describe, expect, test, vi } from "vitest";
import {
  AuthorizationError,
  type Client,
  type ConnectOptions,
  connect,
  type OAuthOptions,
} from "../../src/index.ts";
import { type CredentialStore, memoryStore } from "../../src/oauth.ts";
import {
  type AuthorizationSite,
  agreeing,
  authorizationSite,
  json,
  nothing,
  type ProtectedSite,
  protectedSite,
} from "./world.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function world(
  authorizing: Parameters<typeof authorizationSite>[0] = {},
  protection: Parameters<typeof protectedSite>[1] = {},
): Promise<{ authorization: AuthorizationSite; server: ProtectedSite }> {
  const authorization = await authorizationSite(authorizing);
  const server = await protectedSite(authorization, protection);
  cleanups.push(authorization.close, server.close);
  return { authorization, server };
}

async function connected(
  url: string,
  auth: OAuthOptions = {},
  options: ConnectOptions = {},
): Promise<Client> {
  const client = await connect(url, { ...options, auth: { onAuthorize: agreeing, ...auth } });
  cleanups.unshift(() => client.close());
  return client;
}

async function failure(url: string, auth: OAuthOptions): Promise<AuthorizationError> {
  const error = await connect(url, { auth }).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(AuthorizationError);
  return error;
}

describe("a login", () => {
  test("asks with PKCE, state and resource, gets a token by the code, and sends the request again", async () => {
    const { authorization, server } = await world({}, { challenge: 'scope="read"' });
    const client = await connected(server.url);
    await client.callTool("print");
    const [login] = authorization.logins();
    expect(Object.fromEntries(login ?? [])).toEqual({
      response_type: "code",
      client_id: expect.stringMatching(/^client-/),
      redirect_uri: "http://127.0.0.1/callback",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
      state: expect.stringMatching(/^[\w-]{43}$/),
      resource: server.url,
      scope: "read",
    });
    const [grant] = authorization.grants();
    expect(grant?.get("resource")).toBe(server.url);
    expect(grant?.get("code_verifier")).toMatch(/^[\w-]{43}$/);
    const [token] = authorization.tokens.keys();
    expect(server.calls()).toEqual([
      { method: "server/discover", token: undefined },
      { method: "server/discover", token },
      { method: "tools/call", token },
    ]);
    expect(server.heard.every(({ query }) => query.size === 0)).toBe(true);
  });

  test("registers a native client that may refresh, and sends the MCP revision along", async () => {
    const { authorization, server } = await world();
    await connected(server.url);
    const registration = authorization.heard.find(({ path }) => path === "/register");
    expect(registration?.json).toEqual({
      client_name: "Patchbay",
      redirect_uris: ["http://127.0.0.1/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    });
    const metadata = authorization.heard.find(({ path }) => path.startsWith("/.well-known/"));
    expect(metadata?.headers["mcp-protocol-version"]).toBe("2026-07-28");
  });

  test("registers a web client for a redirect to https", async () => {
    const { authorization, server } = await world();
    const redirectUri = "https://app.example/callback";
    await connected(server.url, { redirectUri });
    const registration = authorization.heard.find(({ path }) => path === "/register");
    expect(registration?.json).toMatchObject({ redirect_uris: [redirectUri], application_type: "web" });
  });

  test("uses a client id that was registered before, before all else", async () => {
    const { authorization, server } = await world({
      metadata: { client_id_metadata_document_supported: true },
    });
    await connected(server.url, { clientId: "mine", clientMetadataUrl: "https://me.example/client.json" });
    expect(authorization.logins()[0]?.get("client_id")).toBe("mine");
    expect(authorization.heard.map(({ path }) => path)).not.toContain("/register");
  });

  test.each([
    [true, "https://me.example/client.json"],
    [false, expect.stringMatching(/^client-/)],
  ])("uses a metadata document where it is supported (%j), else it registers", async (supported, id) => {
    const { authorization, server } = await world({
      metadata: { client_id_metadata_document_supported: supported },
    });
    await connected(server.url, { clientMetadataUrl: "https://me.example/client.json" });
    expect(authorization.logins()[0]?.get("client_id")).toEqual(id);
  });

  test("shows a secret that it was registered with as the server wants it", async () => {
    const { authorization, server } = await world({
      metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] },
      quirks: { "/register": () => json({ client_id: "a-b", client_secret: "s+ü" }, 200) },
    });
    await connected(server.url);
    const shown = authorization.heard.find(({ path }) => path === "/token")?.headers.authorization;
    expect(Buffer.from(shown?.split(" ")[1] ?? "", "base64").toString()).toBe("a-b:s%2B%C3%BC");
  });

  test("takes the scopes of the metadata where the challenge has none, and asks for refreshing as OpenID wants", async () => {
    const { authorization, server } = await world(
      { metadata: { scopes_supported: ["offline_access", "other"] } },
      {
        metadata: (origin) => ({
          resource: origin,
          authorization_servers: [authorization.origin],
          scopes_supported: ["read", "write"],
        }),
      },
    );
    await connected(server.url);
    const [login] = authorization.logins();
    expect(login?.get("scope")).toBe("read write offline_access");
    expect(login?.get("prompt")).toBe("consent");
    expect(login?.get("resource")).toBe(server.origin);
  });

  test("asks for no scope where none is named", async () => {
    const { authorization, server } = await world({ metadata: { scopes_supported: ["offline_access"] } });
    await connected(server.url);
    expect(authorization.logins()[0]?.has("scope")).toBe(false);
  });

  test("is one for all requests that are refused together", async () => {
    const { authorization, server } = await world();
    const client = await connected(server.url);
    authorization.tokens.clear();
    authorization.refreshTokens.clear();
    await Promise.all(["a", "b", "c", "d"].map((name) => client.callTool(name)));
    expect(authorization.logins()).toHaveLength(2);
  });

  test("takes the user's time, not that of the request or of connecting", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const { server } = await world();
    const onAuthorize = async (url: string) => {
      vi.advanceTimersByTime(1_000_000);
      return agreeing(url);
    };
    const client = await connected(server.url, { onAuthorize });
    expect(client.era).toBe("modern");
  });

  test("ends when its time is over", async () => {
    const { server } = await world();
    const error = await failure(server.url, { onAuthorize: () => new Promise(() => {}), loginTimeout: 1 });
    expect(error.message).toContain("Nobody logged in within loginTimeout (1 ms)");
  });

  test("is given up with the connection", async () => {
    const { server } = await world();
    const abort = new AbortController();
    const onAuthorize = (_url: string, { signal }: { signal: AbortSignal }) => {
      abort.abort(new Error("enough"));
      return new Promise<string>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    };
    await expect(connect(server.url, { auth: { onAuthorize }, signal: abort.signal })).rejects.toThrow(
      "enough",
    );
  });

  test("that the user declines is an error that says so", async () => {
    const { authorization, server } = await world();
    const onAuthorize = (url: string) => {
      const { searchParams } = new URL(url);
      const state = searchParams.get("state");
      const iss = encodeURIComponent(authorization.origin);
      return `http://127.0.0.1/callback?error=access_denied&error_description=No!&state=${state}&iss=${iss}`;
    };
    const error = await failure(server.url, { onAuthorize });
    expect(error).toMatchObject({ step: "login", code: "access_denied" });
    expect(error.message).toContain("access_denied: No!; the login was declined");
  });

  test("that nobody can be asked for says what to do", async () => {
    const { authorization, server } = await world({}, { challenge: 'scope="read"' });
    const error = await failure(server.url, {});
    expect(error).toMatchObject({ step: "login", status: 401 });
    expect(error.message).toContain(`wants a login at ${authorization.origin} (read)`);
    expect(authorization.logins()).toEqual([]);
  });

  test("whose token the server does not take is not done again", async () => {
    const { authorization, server } = await world({}, { takes: () => undefined });
    const error = await failure(server.url, { onAuthorize: agreeing });
    expect(error).toMatchObject({ step: "access", status: 401 });
    expect(error.message).toContain("does not take the token");
    expect(authorization.logins()).toHaveLength(1);
  });
});

describe("what is kept", () => {
  test("serves the next connection, which asks nobody", async () => {
    const { authorization, server } = await world();
    const store = memoryStore();
    await connected(server.url, { store });
    const second = await connect(server.url, { auth: { store } });
    cleanups.unshift(() => second.close());
    expect(authorization.logins()).toHaveLength(1);
    expect(server.calls().at(-1)).toEqual({
      method: "server/discover",
      token: [...authorization.tokens.keys()][0],
    });
  });

  test("is for its server alone, though the authorization server is the same", async () => {
    const { authorization, server } = await world();
    const other = await protectedSite(authorization);
    cleanups.push(other.close);
    const store = memoryStore();
    await connected(server.url, { store });
    const error = await failure(other.url, { store });
    expect(error.step).toBe("login");
    expect(other.calls().every(({ token }) => token === undefined)).toBe(true);
  });

  test("is for its path alone, though the origin is the same", async () => {
    const { server } = await world({}, { metadata: undefined });
    const store = memoryStore();
    await connected(server.url, { store, clientId: "mine" }).catch(() => {});
    await connect(`${server.origin}/other`, { auth: { store } }).catch(() => {});
    const others = server.heard.filter(({ path }) => path === "/other");
    expect(others.length).toBeGreaterThan(0);
    expect(others.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test("is not used for another client id, or another issuer, than are asked for", async () => {
    const { server } = await world();
    const store = memoryStore();
    await connected(server.url, { store });
    for (const auth of [
      { store, clientId: "other" },
      { store, issuer: "https://other.example" },
    ]) {
      const before = server.calls().length;
      await failure(server.url, auth);
      expect(server.calls().slice(before)).toEqual([{ method: "server/discover", token: undefined }]);
    }
  });
});

describe("a token that ends", () => {
  const soon = { expiresIn: 0 };

  test("is replaced before it is used", async () => {
    const { authorization, server } = await world(soon);
    const client = await connected(server.url);
    const before = server.calls().length;
    await client.callTool("print");
    expect(server.calls().slice(before)).toEqual([
      { method: "tools/call", token: [...authorization.tokens.keys()].at(-1) },
    ]);
    expect(authorization.logins()).toHaveLength(1);
  });

  test("is refreshed when it is refused, and the refresh token is never used twice", async () => {
    const { authorization, server } = await world();
    const client = await connected(server.url);
    for (let times = 0; times < 3; times++) {
      authorization.tokens.clear();
      await client.callTool("print");
    }
    const spent = authorization.grants().flatMap((form) => form.get("refresh_token") ?? []);
    expect(spent).toHaveLength(3);
    expect(new Set(spent).size).toBe(3);
    expect(authorization.grants()[1]?.get("resource")).toBe(server.url);
    expect(authorization.logins()).toHaveLength(1);
  });

  test("keeps its refresh token where no other is given", async () => {
    let refreshes = 0;
    const { authorization, server } = await world({
      quirks: {
        "/token": ({ form }) => {
          if (form.get("grant_type") === "refresh_token") expect(form.get("refresh_token")).toBe("forever");
          const access = `access-${refreshes++}`;
          authorization.tokens.set(access, []);
          const first = refreshes === 1 ? { refresh_token: "forever" } : {};
          return json({ access_token: access, token_type: "bearer", ...first });
        },
      },
    });
    const client = await connected(server.url);
    for (let times = 0; times < 2; times++) {
      authorization.tokens.clear();
      await client.callTool("print");
    }
    expect(refreshes).toBe(3);
  });

  test("is refreshed once for all requests, and for all connections that share a store", async () => {
    const { authorization, server } = await world();
    const store = memoryStore();
    const clients = [await connected(server.url, { store }), await connected(server.url, { store })];
    authorization.tokens.clear();
    await Promise.all(clients.flatMap((client) => [client.callTool("a"), client.callTool("b")]));
    expect(authorization.grants().map((form) => form.get("grant_type"))).toEqual([
      "authorization_code",
      "refresh_token",
    ]);
  });

  test("takes a new login where the refresh token is spent", async () => {
    const { authorization, server } = await world();
    const client = await connected(server.url);
    authorization.tokens.clear();
    authorization.refreshTokens.clear();
    await client.callTool("print");
    expect(authorization.logins()).toHaveLength(2);
  });

  test("registers anew where the authorization server has forgotten the client", async () => {
    const { authorization, server } = await world({
      quirks: {
        "/token": ({ form }) =>
          form.get("grant_type") === "refresh_token"
            ? json({ error: "invalid_client" }, 401, { "www-authenticate": "Basic" })
            : undefined,
      },
    });
    const client = await connected(server.url);
    authorization.tokens.clear();
    await client.callTool("print");
    expect(authorization.heard.filter(({ path }) => path === "/register")).toHaveLength(2);
  });

  test("may do while the authorization server is away, which is not asked on each request", async () => {
    let away = false;
    const { authorization, server } = await world({
      ...soon,
      quirks: { "/token": () => (away ? (response) => response.destroy() : undefined) },
    });
    const client = await connected(server.url);
    await client.callTool("print");
    away = true;
    const before = authorization.grants().length;
    await client.callTool("print");
    await client.callTool("print");
    expect(authorization.grants().length).toBe(before + 1);
  });
});

describe("a tool that needs more", () => {
  const needs = (tool: string) => (tool === "write" || tool === "admin" ? tool : undefined);

  test("has more asked for, besides all that was before", async () => {
    const { authorization, server } = await world({}, { challenge: 'scope="read"', needs });
    const client = await connected(server.url);
    await client.callTool("write");
    await client.callTool("admin");
    expect(authorization.logins().map((login) => login.get("scope"))).toEqual([
      "read",
      "read write",
      "read write admin",
    ]);
  });

  test("has it asked for once by requests that are refused together", async () => {
    const { authorization, server } = await world({}, { needs });
    const client = await connected(server.url);
    await Promise.all([client.callTool("write"), client.callTool("write"), client.callTool("write")]);
    expect(authorization.logins()).toHaveLength(2);
  });

  test("is refused at once where all that it needs was given", async () => {
    const { authorization, server } = await world(
      {},
      {
        challenge: 'scope="write"',
        takes: (token) => (authorization.tokens.has(token) ? [] : undefined),
        needs,
      },
    );
    const client = await connected(server.url);
    const error = await client.callTool("write").catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "AuthorizationError", step: "access", status: 403 });
    expect(error.message).toContain("though that was asked for already");
    expect(authorization.logins()).toHaveLength(1);
  });

  test("is not asked for again where the user did not grant it", async () => {
    const { authorization, server } = await world(
      {
        quirks: {
          "/token": () => {
            const access = `access-${authorization.tokens.size}`;
            authorization.tokens.set(access, ["read"]);
            return json({ access_token: access, token_type: "bearer", scope: "read" });
          },
        },
      },
      { needs },
    );
    const client = await connected(server.url);
    await expect(client.callTool("write")).rejects.toThrow("asked for already");
    await expect(client.callTool("write")).rejects.toThrow("asked for already");
    expect(authorization.logins()).toHaveLength(2);
  });

  test("is not asked for for ever", async () => {
    const { authorization, server } = await world({}, { needs: (tool) => tool });
    const client = await connected(server.url, { maxStepUps: 2 });
    await client.callTool("a");
    await client.callTool("b");
    await expect(client.callTool("c")).rejects.toThrow("maxStepUps (2) is reached");
    expect(authorization.logins()).toHaveLength(3);
  });

  test("cannot be used where nobody can be asked", async () => {
    const { server } = await world({}, { needs });
    const store: CredentialStore = memoryStore();
    await connected(server.url, { store });
    const client = await connect(server.url, { auth: { store } });
    cleanups.unshift(() => client.close());
    await expect(client.callTool("write")).rejects.toMatchObject({ step: "login", status: 403 });
  });

  test("is refused as it is by a 403 that says nothing of scopes", async () => {
    const { authorization, server } = await world();
    const client = await connected(server.url);
    const forbidding = await protectedSite(authorization, { quirks: { "/mcp": () => json({}, 403) } });
    cleanups.push(forbidding.close);
    await expect(connect(forbidding.url, { auth: { onAuthorize: agreeing } })).rejects.toMatchObject({
      name: "ConnectionError",
      status: 403,
    });
    expect(client.era).toBe("modern");
  });
});

test("a server whose authorization server has no metadata is told so", async () => {
  const { server } = await world({ quirks: { "/.well-known/oauth-authorization-server": () => nothing } });
  const error = await failure(server.url, { onAuthorize: agreeing });
  expect(error).toMatchObject({ step: "discovery" });
  expect(error.message).toContain("There is no metadata of the authorization server");
});
