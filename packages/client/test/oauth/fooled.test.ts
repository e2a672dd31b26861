/** Nobody is fooled: what a server, or an authorization server, must not get us to do. */

import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { AuthorizationError, connect, type OAuthOptions } from "../../src/index.ts";
import { Reach } from "../../src/oauth/reach.ts";
import { browser, login, memoryStore } from "../../src/oauth.ts";
import { agreeing, authorizationSite, json, redirect, site, stage } from "./world.ts";

const resolved = vi.hoisted(() => new Map<string, string>());
vi.mock("node:dns/promises", () => ({
  lookup: async (name: string) => [{ address: resolved.get(name) ?? "127.0.0.1", family: 4 }],
}));

const LIMITS = { privateHosts: [], requestTimeout: 20_000, maxDocumentBytes: 10_000 };
const { world, closes } = stage();

async function refusal(
  url: string,
  auth: OAuthOptions = { onAuthorize: agreeing },
): Promise<AuthorizationError> {
  const outcome = await connect(url, { auth }).catch((thrown) => thrown);
  expect(outcome).toBeInstanceOf(AuthorizationError);
  return outcome;
}

/** A browser that comes back with other parameters than it was sent with. */
const changing = (change: (parameters: URLSearchParams) => void) => async (url: string) => {
  const back = new URL(await agreeing(url));
  change(back.searchParams);
  return back.href;
};

describe("who answers a login", () => {
  test.each<[string, (parameters: URLSearchParams, issuer: string) => void]>([
    ["another issuer", (parameters) => parameters.set("iss", "https://evil.example")],
    ["the issuer in another spelling", (parameters, issuer) => parameters.set("iss", `${issuer}/`)],
    ["no issuer, though it is promised", (parameters) => parameters.delete("iss")],
    ["an empty issuer", (parameters) => parameters.set("iss", "")],
    ["two issuers", (parameters) => parameters.append("iss", "https://evil.example")],
    ["another state", (parameters) => parameters.set("state", "guessed")],
    ["no state", (parameters) => parameters.delete("state")],
    ["two codes", (parameters) => parameters.append("code", "other")],
  ])("with %s is not believed: the code goes nowhere", async (_what, change) => {
    const { authorization, server } = await world();
    const onAuthorize = changing((parameters) => change(parameters, authorization.origin));
    const error = await refusal(server.url, { onAuthorize });
    expect(["login", "token"]).toContain(error.step);
    expect(authorization.grants()).toEqual([]);
  });

  test.each(["https://evil.example", ""])("is compared though nothing was promised: %j", async (iss) => {
    const { authorization, server } = await world({
      metadata: { authorization_response_iss_parameter_supported: false },
    });
    const onAuthorize = changing((parameters) => parameters.set("iss", iss));
    await refusal(server.url, { onAuthorize });
    expect(authorization.grants()).toEqual([]);
  });

  test("need not say who it is where that was not promised", async () => {
    const { server } = await world({ metadata: { authorization_response_iss_parameter_supported: false } });
    const client = await connect(server.url, {
      auth: { onAuthorize: changing((parameters) => parameters.delete("iss")) },
    });
    await client.close();
  });

  test("shows nothing of an error that is another's", async () => {
    const { server } = await world();
    const onAuthorize = (url: string) => {
      const state = new URL(url).searchParams.get("state");
      const error = "error=invalid_scope&error_description=Call+us&error_uri=https://evil.example";
      return `http://127.0.0.1/callback?${error}&state=${state}&iss=https://evil.example`;
    };
    const error = await refusal(server.url, { onAuthorize });
    expect(inspect(error)).not.toMatch(/invalid_scope|Call us|evil\.example/);
  });

  test("answers where it was told to", async () => {
    const { authorization, server } = await world();
    const onAuthorize = async (url: string) =>
      (await agreeing(url)).replace("127.0.0.1/callback", "evil.example/");
    const error = await refusal(server.url, { onAuthorize });
    expect(error.message).toContain("is not a URL at http://127.0.0.1/callback");
    expect(authorization.grants()).toEqual([]);
  });
});

describe("an authorization server", () => {
  test("that says it is another is not used", async () => {
    const { authorization, server } = await world({ metadata: { issuer: "https://honest.example" } });
    const error = await refusal(server.url);
    expect(error).toMatchObject({ step: "discovery" });
    expect(error.message).toContain(
      `is the metadata of "https://honest.example", not of "${authorization.origin}"`,
    );
    expect(authorization.heard.every(({ path }) => path.startsWith("/.well-known/"))).toBe(true);
  });

  test.each([
    [{ code_challenge_methods_supported: undefined }],
    [{ code_challenge_methods_supported: ["plain"] }],
  ])("without PKCE (%j) is sent nobody", async (metadata) => {
    const { authorization, server } = await world({ metadata: metadata as never });
    const error = await refusal(server.url);
    expect(error.message).toContain("does not say that it does PKCE with S256");
    expect(authorization.logins()).toEqual([]);
  });

  test.each([
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,hello",
    "http://example.com/authorize",
    "https://user:password@example.com/authorize",
    "vscode://run?$(touch /tmp/owned)",
    "not a url",
  ])("does not get a browser sent to %s", async (endpoint) => {
    const { server } = await world({ metadata: { authorization_endpoint: endpoint } });
    const opened: unknown[] = [];
    const error = await refusal(server.url, { browser: browser({ open: (url) => opened.push(url) }) });
    expect(error.step).toBe("login");
    expect(opened).toEqual([]);
  });

  test("that another took the place of gets neither the client id, nor the secret, nor the refresh token", async () => {
    const evil = await authorizationSite();
    closes(evil.close);
    let issuer = "";
    const { authorization, server } = await world(
      {
        metadata: { token_endpoint_auth_methods_supported: ["client_secret_basic"] },
        quirks: {
          "/register": () => json({ client_id: "canary-id", client_secret: "canary-secret" }, 201),
        },
      },
      {
        takes: (token) => authorization.tokens.get(token) ?? evil.tokens.get(token),
        metadata: (origin) => ({ resource: `${origin}/mcp`, authorization_servers: [issuer] }),
      },
    );
    issuer = authorization.origin;
    const store = memoryStore();
    const client = await connect(server.url, { auth: { store, onAuthorize: agreeing } });
    closes(() => client.close());
    const kept = await store.get("grant", server.url);
    issuer = evil.origin;
    authorization.tokens.clear();
    await client.callTool("print");
    expect(evil.heard.some(({ path }) => path === "/register")).toBe(true);
    const all = inspect(evil.heard, { depth: 9 });
    for (const secret of ["canary", kept?.refreshToken, kept?.accessToken]) expect(all).not.toContain(secret);
    for (const { headers } of evil.heard) {
      expect(Buffer.from(headers.authorization?.split(" ")[1] ?? "", "base64").toString()).not.toContain(
        "canary",
      );
    }
  });

  test("that is not the one a secret is for gets nothing at all", async () => {
    const { authorization, server } = await world();
    const auth = { clientId: "mine", clientSecret: "canary", issuer: "https://honest.example" };
    const error = await refusal(server.url, { ...auth, onAuthorize: agreeing });
    expect(error).toMatchObject({ step: "discovery" });
    expect(error.message).toContain("it is sent nowhere else");
    expect(authorization.heard).toEqual([]);
    await refusal(server.url, { ...auth, grant: { type: "client_credentials" } });
    expect(authorization.heard).toEqual([]);
  });

  test("has to be named where there is a secret", async () => {
    const auth = { clientId: "mine", clientSecret: "canary", onAuthorize: agreeing };
    const error = await connect("https://mcp.example/", { auth }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain("takes a clientId, and the issuer");
    expect(inspect(error)).not.toContain("canary");
  });

  test.each(["/token", "/register"])("that redirects %s elsewhere has nothing sent there", async (path) => {
    const evil = await site(() => json({ access_token: "x", token_type: "bearer", client_id: "x" }, 201));
    closes(evil.close);
    const { server } = await world({ quirks: { [path]: () => redirect(`${evil.origin}${path}`, 307) } });
    const error = await refusal(server.url);
    expect(error.message).toContain("redirects to elsewhere, which is not followed");
    expect(evil.heard).toEqual([]);
  });

  test.each(["/token", "/register"])(
    "that redirects %s has nothing sent again, on its own origin neither",
    async (path) => {
      const { authorization, server } = await world({
        quirks: { [path]: () => redirect("/elsewhere", 307) },
      });
      await refusal(server.url);
      expect(authorization.heard.map((heard) => heard.path)).not.toContain("/elsewhere");
    },
  );

  test("gives no DPoP token that nobody asked for", async () => {
    const { server } = await world({
      quirks: { "/token": () => json({ access_token: "x", token_type: "DPoP" }) },
    });
    expect((await refusal(server.url)).message).toContain("a DPoP token that nobody asked for");
  });
});

describe("a server", () => {
  test.each([
    "https://evil.example/mcp",
    "http://127.0.0.1:1/mcp",
    "ORIGIN/mcp/deeper",
    "ORIGIN/mc",
    "ORIGIN/other",
    "ORIGIN/mcp#fragment",
    "/mcp",
  ])("whose metadata is that of %s has nobody log in", async (resource) => {
    const { authorization, server } = await world(
      {},
      {
        metadata: (origin) => ({
          resource: resource.replace("ORIGIN", origin),
          authorization_servers: [authorization.origin],
        }),
      },
    );
    const error = await refusal(server.url);
    expect(error.message).toContain("is the metadata of another resource");
    expect(authorization.heard).toEqual([]);
  });

  test("that sends its metadata elsewhere is not followed", async () => {
    const evil = await site(() => json({ resource: "http://x", authorization_servers: ["http://x"] }));
    closes(evil.close);
    const { server } = await world(
      {},
      { quirks: { "/.well-known/oauth-protected-resource/mcp": () => redirect(`${evil.origin}/`) } },
    );
    const error = await refusal(server.url);
    expect(error.message).toContain("redirects to elsewhere");
    expect(evil.heard).toEqual([]);
  });

  test("that sends without end is not heard to the end", async () => {
    const { server } = await world(
      {},
      {
        quirks: {
          "/.well-known/oauth-protected-resource/mcp": () => (response) => {
            response.writeHead(200, { "content-type": "application/json" });
            const fill = () => {
              while (!response.destroyed && response.write(" ".repeat(16_384)));
              if (!response.destroyed) response.once("drain", fill);
            };
            fill();
          },
        },
      },
    );
    const error = await refusal(server.url);
    expect(error.message).toContain("sent more than maxDocumentBytes (262144)");
  });

  test("that never answers is given up", async () => {
    const { server } = await world(
      {},
      { quirks: { "/.well-known/oauth-protected-resource/mcp": () => () => {} } },
    );
    const error = await refusal(server.url, { onAuthorize: agreeing, requestTimeout: 50 });
    expect(error.message).toContain("did not answer within requestTimeout (50 ms)");
  });
});

describe("a far server gets us to nothing near", () => {
  const far = new Reach(new URL("https://mcp.example/mcp"), LIMITS);

  test.each([
    "http://example.com/",
    "https://127.0.0.1/",
    "http://127.0.0.1:8080/",
    "http://localhost:8080/",
    "https://a.localhost/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::10.0.0.1]/",
    "https://[2002:a00:1::]/",
    "https://[::10.0.0.1]/",
    "https://10.0.0.1/",
    "https://0x0a000001/",
    "https://167772161/",
    "https://192.168.1.1/",
    "https://172.31.255.255/",
    "https://100.64.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://[fe80::1]/",
    "https://[fec0::1]/",
    "https://[fd00::1]/",
    "https://0.0.0.0/",
    "ftp://example.com/",
  ])("at %s", async (url) => {
    await expect(far.fetch(url)).rejects.toThrow(/is at a .* address|is not https/);
  });

  test("by a name that leads here", async () => {
    resolved.set("evil.example", "127.0.0.1");
    const here = await site(() => json({}));
    closes(here.close);
    const { port } = new URL(here.origin);
    await expect(far.fetch(`https://evil.example:${port}/`)).rejects.toThrow(
      "evil.example is at a loopback address",
    );
    expect(here.heard).toEqual([]);
  });

  test("and one on this machine may name what is near, but not the cloud's", async () => {
    const near = new Reach(new URL("http://127.0.0.1:1/mcp"), LIMITS);
    const here = await site(() => json({ fine: true }));
    closes(here.close);
    await expect(near.document(`${here.origin}/x`)).resolves.toEqual({ fine: true });
    expect(near.check("https://10.0.0.1/").hostname).toBe("10.0.0.1");
    expect(() => near.check("https://169.254.169.254/")).toThrow("forbidden address");
  });

  test("unless the user says so", () => {
    const trusting = new Reach(new URL("https://mcp.example/mcp"), { ...LIMITS, privateHosts: ["10.0.0.1"] });
    expect(trusting.check("https://10.0.0.1/").hostname).toBe("10.0.0.1");
    expect(() => trusting.check("https://10.0.0.2/")).toThrow("add it to privateHosts");
  });
});

test("no secret is in an error, nor in what is printed of one", async () => {
  const secrets = ["canary-code", "canary-access", "canary-refresh", "canary-secret"];
  const bad = { access_token: "canary-access", refresh_token: "canary-refresh", token_type: "strange" };
  for (const answer of [
    json(bad),
    json({ ...bad, token_type: "bearer", expires_in: "never" }),
    json({ ...bad, token_type: undefined }),
    json({ ...bad, error: "invalid_grant", error_description: "no" }, 400),
    json(bad, 500),
    json(bad, 401, { "www-authenticate": "Basic" }),
  ]) {
    const { server } = await world({ quirks: { "/token": () => answer } });
    const onAuthorize = changing((parameters) => parameters.set("code", "canary-code"));
    const error = await login(server.url, { onAuthorize }).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "AuthorizationError", step: "token" });
    const all = inspect(error, { depth: 12, showHidden: true });
    for (const secret of secrets) expect(all).not.toContain(secret);
  }
});
