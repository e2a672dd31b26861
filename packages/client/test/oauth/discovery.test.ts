/** Who authorizes for a server is looked for at each place that the revisions name, in their order. */

import { describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { discoverAuthorization, login } from "../../src/oauth.ts";
import {
  type Answer,
  agreeing,
  authorizationSite,
  type Heard,
  json,
  nothing,
  protectedSite,
  type Site,
  site,
  stage,
} from "./world.ts";

const { closes } = stage();

/** A site with documents at these paths; everything else is not there. */
async function documents(at: (origin: string) => Record<string, unknown>): Promise<Site> {
  const own = await site(({ path }) => {
    const document = at(own.origin)[path];
    if (document === undefined) return nothing;
    return typeof document === "function" ? (document as Answer) : json(document);
  });
  closes(own.close);
  return own;
}

const asked = ({ heard }: Site) => heard.filter(({ verb }) => verb === "GET").map(({ path }) => path);

describe("a server's own metadata", () => {
  const RESOURCE = "/.well-known/oauth-protected-resource";

  test("is where the challenge says, and nowhere else", async () => {
    const server = await documents((origin) => ({
      "/mcp": (response: Parameters<Answer>[0]) =>
        response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${origin}/there"` }).end(),
      "/there": { resource: `${origin}/mcp`, authorization_servers: [`${origin}/as`] },
      "/.well-known/oauth-authorization-server/as": { issuer: `${origin}/as` },
    }));
    expect((await discoverAuthorization(`${server.origin}/mcp`)).issuer).toBe(`${server.origin}/as`);
    expect(asked(server)).toEqual(["/there", "/.well-known/oauth-authorization-server/as"]);
  });

  test("that is not where the challenge says is missed", async () => {
    const server = await documents((origin) => ({
      "/mcp": (response: Parameters<Answer>[0]) =>
        response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${origin}/there"` }).end(),
    }));
    await expect(discoverAuthorization(`${server.origin}/mcp`)).rejects.toThrow("and there is none");
  });

  test("is at its path, then at the root, where the challenge says nothing", async () => {
    const server = await documents((origin) => ({
      [RESOURCE]: {
        resource: origin,
        authorization_servers: [origin],
        scopes_supported: ["a", 1, "b c", "a"],
      },
      "/.well-known/oauth-authorization-server": { issuer: origin },
    }));
    expect(await discoverAuthorization(`${server.origin}/public/mcp`)).toEqual({
      issuer: server.origin,
      resource: server.origin,
      scopes: ["a"],
      registration: "none",
      doesPkce: false,
      bound: false,
      assumed: false,
    });
    expect(asked(server)).toEqual([
      `${RESOURCE}/public/mcp`,
      RESOURCE,
      "/.well-known/oauth-authorization-server",
    ]);
  });

  test("is not a page that a site has for each path", async () => {
    const page: Answer = (response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>Hello");
    const server = await documents((origin) => ({
      [`${RESOURCE}/mcp`]: page,
      [RESOURCE]: { resource: origin, authorization_servers: [origin] },
      "/.well-known/oauth-authorization-server": page,
      "/.well-known/openid-configuration": { issuer: origin },
    }));
    expect((await discoverAuthorization(`${server.origin}/mcp`)).issuer).toBe(server.origin);
  });

  test("that fails is not taken for none", async () => {
    const server = await documents(() => ({
      [`${RESOURCE}/mcp`]: (response: Parameters<Answer>[0]) => response.writeHead(503).end(),
    }));
    await expect(discoverAuthorization(`${server.origin}/mcp`)).rejects.toThrow("answered 503");
  });

  test.each([
    {},
    { authorization_servers: [] },
    { authorization_servers: [1] },
    { authorization_servers: "x" },
  ])("names an authorization server (%j does not)", async (rest) => {
    const server = await documents((origin) => ({
      [`${RESOURCE}/mcp`]: { resource: `${origin}/mcp`, ...rest },
    }));
    await expect(discoverAuthorization(`${server.origin}/mcp`)).rejects.toThrow(
      "names no authorization server",
    );
  });
});

describe("an authorization server's metadata", () => {
  const found = async (
    issuer: (origin: string) => string,
    at: (origin: string) => Record<string, unknown>,
  ) => {
    const authorization = await documents(at);
    const server = await documents((origin) => ({
      "/.well-known/oauth-protected-resource": {
        resource: origin,
        authorization_servers: [issuer(authorization.origin)],
      },
    }));
    const outcome = await discoverAuthorization(server.origin).catch((error) => error);
    return { outcome, asked: asked(authorization), origin: authorization.origin };
  };

  test("is looked for at two places", async () => {
    const { outcome, asked } = await found(
      (origin) => origin,
      () => ({}),
    );
    expect(outcome.message).toContain("There is no metadata of the authorization server");
    expect(asked).toEqual(["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]);
  });

  test("is looked for at three where the issuer has a path, and not at its root", async () => {
    const { outcome, asked, origin } = await found(
      (origin) => `${origin}/tenant/1`,
      (origin) => ({ "/tenant/1/.well-known/openid-configuration": { issuer: `${origin}/tenant/1` } }),
    );
    expect(outcome.issuer).toBe(`${origin}/tenant/1`);
    expect(asked).toEqual([
      "/.well-known/oauth-authorization-server/tenant/1",
      "/.well-known/openid-configuration/tenant/1",
      "/tenant/1/.well-known/openid-configuration",
    ]);
  });

  test("says the issuer to the letter: a slash more is another", async () => {
    const { outcome } = await found(
      (origin) => `${origin}/`,
      (origin) => ({ "/.well-known/oauth-authorization-server": { issuer: origin } }),
    );
    expect(outcome.message).toContain("they have to be the same, to the letter");
  });

  test("is that of the next where the first of several has none", async () => {
    const other = await documents(() => ({}));
    const authorization = await authorizationSite();
    const server = await protectedSite(authorization, {
      metadata: (origin) => ({
        resource: `${origin}/mcp`,
        authorization_servers: [other.origin, authorization.origin],
      }),
    });
    closes(authorization.close);
    closes(server.close);
    expect((await login(server.url, { onAuthorize: agreeing })).issuer).toBe(authorization.origin);
  });

  test("is that of the issuer that the user named, of several", async () => {
    const [first, second] = [await authorizationSite(), await authorizationSite()];
    const server = await protectedSite(second, {
      metadata: (origin) => ({
        resource: `${origin}/mcp`,
        authorization_servers: [first.origin, second.origin],
      }),
    });
    closes(first.close);
    closes(second.close);
    closes(server.close);
    const account = await login(server.url, { onAuthorize: agreeing, issuer: second.origin });
    expect(account.issuer).toBe(second.origin);
    expect(first.heard).toEqual([]);
  });
});

describe("a server of 2025-03-26, which has no metadata of its own,", () => {
  /** One site that is both, with the endpoints where they are by default. */
  async function both(metadata: boolean, methods = ["S256"]): Promise<Site & { url: string }> {
    const authorization = await authorizationSite();
    closes(authorization.close);
    const own = await site(async (heard: Heard) => {
      const to = { "/authorize": "/authorize", "/token": "/token", "/register": "/register" }[heard.path];
      if (heard.path === "/.well-known/oauth-authorization-server" && metadata)
        return json({
          issuer: `${own.origin}/`,
          authorization_endpoint: `${own.origin}/authorize`,
          token_endpoint: `${own.origin}/token`,
          registration_endpoint: `${own.origin}/register`,
          ...(methods.length > 0 && { code_challenge_methods_supported: methods }),
        });
      if (to !== undefined) {
        const answer = await fetch(`${authorization.origin}${to}?${heard.query}`, {
          method: heard.verb,
          redirect: "manual",
          ...(heard.verb === "POST" && {
            body: heard.body,
            headers: { "content-type": heard.headers["content-type"] ?? "" },
          }),
        });
        const location = answer.headers.get("location")?.replace(/&iss=.*/, "");
        if (location) return (response) => response.writeHead(302, { location }).end();
        return json(await answer.json(), answer.status);
      }
      if (heard.path !== "/v1/mcp") return nothing;
      const token = heard.headers.authorization?.slice("Bearer ".length) ?? "";
      if (!authorization.tokens.has(token)) return json({}, 401);
      return json({
        jsonrpc: "2.0",
        id: heard.json.id,
        result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} },
      });
    });
    closes(own.close);
    return { ...own, url: `${own.origin}/v1/mcp` };
  }

  test.each([true, false])(
    "is its own authorization server, at its origin (metadata: %j)",
    async (metadata) => {
      const server = await both(metadata);
      const client = await connect(server.url, { auth: { onAuthorize: agreeing } });
      await client.close();
      const places = [...new Set(server.heard.map(({ path }) => path))];
      expect(places).toEqual([
        "/v1/mcp",
        "/.well-known/oauth-protected-resource/v1/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        ...(metadata ? [] : ["/.well-known/openid-configuration"]),
        "/register",
        "/authorize",
        "/token",
      ]);
      const login = server.heard.find(({ path }) => path === "/authorize");
      expect(login?.query.get("code_challenge_method")).toBe("S256");
      expect(login?.query.get("resource")).toBe(server.url);
    },
  );

  test("need not say that it does PKCE, which is done all the same, but may not say that it does not", async () => {
    const silent = await both(true, []);
    await (await connect(silent.url, { auth: { onAuthorize: agreeing } })).close();
    const asked = silent.heard.find(({ path }) => path === "/authorize");
    expect(asked?.query.get("code_challenge_method")).toBe("S256");
    const weak = await both(true, ["plain"]);
    await expect(connect(weak.url, { auth: { onAuthorize: agreeing } })).rejects.toThrow("PKCE with S256");
  });

  test("is not asked where the user has named the issuer", async () => {
    const authorization = await authorizationSite();
    const server = await protectedSite(authorization, { metadata: undefined });
    closes(authorization.close);
    closes(server.close);
    const account = await login(server.url, { onAuthorize: agreeing, issuer: authorization.origin });
    expect(account.issuer).toBe(authorization.origin);
  });
});
