/** A token that ends is replaced, and one that allows too little: once for all who wait, and not for ever. */

import { describe, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { type CredentialStore, login, logout, memoryStore } from "../../src/oauth.ts";
import { agreeing, json, protectedSite, stage } from "./world.ts";

const { world, connected, closes } = stage();

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

  test("is replaced to the end, though whoever waited has given up: the refresh token is spent by then", async () => {
    let release = () => {};
    let begun = () => {};
    const refreshing = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { authorization, server } = await world({
      quirks: {
        "/token": async ({ form }) => {
          if (form.get("grant_type") !== "refresh_token") return undefined;
          begun();
          await new Promise<void>((resolve) => {
            release = resolve;
          });
          return undefined;
        },
      },
    });
    const client = await connected(server.url);
    authorization.tokens.clear();
    const abort = new AbortController();
    const call = client.callTool("print", {}, { signal: abort.signal });
    await refreshing;
    abort.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    const next = client.callTool("print");
    release();
    await next;
    expect(authorization.logins()).toHaveLength(1);
    expect(authorization.grants()).toHaveLength(2);
  });

  test("is refreshed as who got it, though somebody registered anew at the same place since", async () => {
    const { authorization, server } = await world();
    const other = await protectedSite(authorization);
    closes(other.close);
    const store = memoryStore();
    const client = await connected(server.url, { store });
    await login(other.url, { store, onAuthorize: agreeing });
    authorization.tokens.clear();
    await client.callTool("print");
    const [first, second, third] = authorization.grants().map((form) => form.get("client_id"));
    expect(second).not.toBe(first);
    expect(third).toBe(first);
  });

  test("is not refreshed once somebody has logged out", async () => {
    const { authorization, server } = await world();
    const store = memoryStore();
    const client = await connected(server.url, { store });
    await logout(server.url, { store });
    await client.callTool("print");
    expect(authorization.logins()).toHaveLength(2);
    expect(authorization.grants().map((form) => form.get("grant_type"))).not.toContain("refresh_token");
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
    closes(() => client.close());
    await expect(client.callTool("write")).rejects.toMatchObject({
      step: "login",
      status: 403,
      scope: "write",
    });
  });

  test("is refused as it is by a 403 that says nothing of scopes", async () => {
    const { authorization, server } = await world();
    const client = await connected(server.url);
    const forbidding = await protectedSite(authorization, { quirks: { "/mcp": () => json({}, 403) } });
    closes(forbidding.close);
    await expect(connect(forbidding.url, { auth: { onAuthorize: agreeing } })).rejects.toMatchObject({
      name: "ConnectionError",
      status: 403,
    });
    expect(client.era).toBe("modern");
  });
});
