/** A user logs in, once: what is asked for, what is kept, refreshed, and asked for again. */

import type { ServerResponse } from "node:http";
import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { AuthorizationError, connect, type OAuthOptions } from "../../src/index.ts";
import { login, memoryStore } from "../../src/oauth.ts";
import { agreeing, json, nothing, protectedSite, stage } from "./world.ts";

const { world, connected, closes } = stage();

afterEach(() => vi.useRealTimers());

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

  describe("to a server that speaks HTTP+SSE", () => {
    /** It ends its streams when it is told to. */
    async function old() {
      const streams: ServerResponse[] = [];
      const { authorization, server } = await world(
        {},
        {
          quirks: {
            "/mcp": ({ verb, headers, json: message }) => {
              const stream = streams.at(-1);
              if (verb === "POST" && stream === undefined) return json({}, 405);
              const token = headers.authorization?.slice("Bearer ".length) ?? "";
              if (!authorization.tokens.has(token)) return undefined;
              if (verb === "POST") {
                const serverInfo = { name: "old", version: "1" };
                const result = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo };
                if (message.method === "initialize")
                  stream?.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: message.id, result })}\n\n`);
                return (response) => response.writeHead(202).end();
              }
              return (response) => {
                streams.push(response.writeHead(200, { "content-type": "text/event-stream" }));
                response.write("event: endpoint\ndata: /mcp\n\n");
              };
            },
          },
        },
      );
      return { authorization, server, streams };
    }

    test("takes the user's time, not that of the probe", async () => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      const { server } = await old();
      const onAuthorize = async (url: string) => {
        vi.advanceTimersByTime(1_000_000);
        return agreeing(url);
      };
      const client = await connected(server.url, { onAuthorize });
      expect(client.revision).toBe("2024-11-05");
    });

    test("is not asked for again and again when a lost stream is opened anew", async () => {
      const { authorization, server, streams } = await old();
      let asked = 0;
      const onAuthorize = (url: string) => {
        if (++asked === 1) return agreeing(url);
        throw new Error("not now");
      };
      const client = await connected(server.url, { onAuthorize });
      authorization.tokens.clear();
      authorization.refreshTokens.clear();
      streams.at(-1)?.end();
      const cause = await client.closed;
      expect(cause).toMatchObject({ name: "AuthorizationError", step: "login" });
      expect(asked).toBe(2);
    });
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
    closes(() => second.close());
    expect(authorization.logins()).toHaveLength(1);
    expect(server.calls().at(-1)).toEqual({
      method: "server/discover",
      token: [...authorization.tokens.keys()][0],
    });
  });

  test("is for its server alone, though the authorization server is the same", async () => {
    const { authorization, server } = await world();
    const other = await protectedSite(authorization);
    closes(other.close);
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

test("a server that asks for no login is not logged in to", async () => {
  const { server } = await world({}, { metadata: undefined, quirks: { "/mcp": () => json({}, 200) } });
  const error = await login(server.url, { onAuthorize: agreeing }).catch((thrown) => thrown);
  expect(error).toMatchObject({ step: "discovery" });
  expect(error.message).toContain("wants no login");
  expect(server.heard.map(({ path }) => path)).not.toContain("/register");
});

test("nothing that is printed of a client shows a secret", async () => {
  const { authorization, server } = await world();
  const auth = { clientId: "me", clientSecret: "canary-secret", issuer: authorization.origin };
  const client = await connected(server.url, { ...auth, store: memoryStore() });
  const all = inspect(client, { depth: 12, showHidden: true });
  for (const secret of [
    "canary-secret",
    ...authorization.tokens.keys(),
    ...authorization.refreshTokens.keys(),
  ])
    expect(all).not.toContain(secret);
});

test("a server whose authorization server has no metadata is told so", async () => {
  const { server } = await world({ quirks: { "/.well-known/oauth-authorization-server": () => nothing } });
  const error = await failure(server.url, { onAuthorize: agreeing });
  expect(error).toMatchObject({ step: "discovery" });
  expect(error.message).toContain("There is no metadata of the authorization server");
});
