/** Scopes of tools, resources and prompts: they hide and guard them; and what the server says of itself. */

import { afterEach, describe, expect, test } from "vitest";
import { McpServer } from "../../src/index.ts";
import {
  type AuthOptions,
  type HttpServing,
  serveHttp,
  type VerifyToken,
} from "../../src/transports/http.ts";
import { Events } from "../streamable.ts";
import { INITIALIZE, type Json, MODERN_META, memory } from "../wire.ts";
import { answerOf, bearer, call, guarded, legacy, modern } from "./guarded.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

/** A token is the scopes that it has. */
const verify: VerifyToken = (token) => ({
  issuer: "https://idp.example",
  subject: "ann",
  scopes: token.split("."),
  expiresAt: Date.now() + 60_000,
});
const AUTH: AuthOptions = {
  verify,
  resource: "https://mcp.example/mcp",
  authorizationServers: ["https://idp.example"],
  includes: { all: ["files", "see"], files: ["files-read", "files-write"] },
};
const METADATA = "https://mcp.example/.well-known/oauth-protected-resource/mcp";

function shelf(): McpServer {
  const server = new McpServer({ name: "shelf", version: "1.0.0" });
  server.tool("look", {}, () => "looked");
  server.tool("erase", { scopes: ["files-read", "files-write"] }, () => "erased");
  server.resource("file:///open", { name: "open" }, () => "open");
  server.resource("file:///closed", { name: "closed", scopes: ["files-read"] }, () => "closed");
  server.resourceTemplate("note:///{id}", { name: "note", scopes: ["files-read"] }, () => "note");
  server.prompt("ask", {}, () => "ask");
  server.prompt(
    "tell",
    { scopes: ["see"], arguments: [{ name: "who" }], complete: { who: () => ["ann"] } },
    () => "tell",
  );
  return server;
}

async function serve(auth: AuthOptions | undefined = AUTH): Promise<HttpServing> {
  const serving = await guarded(shelf(), auth);
  open.push(serving);
  return serving;
}

const LISTS: [method: string, member: string, key: string, forAll: string[], withScopes: string[]][] = [
  ["tools/list", "tools", "name", ["look"], ["look", "erase"]],
  ["resources/list", "resources", "name", ["open"], ["open", "closed"]],
  ["resources/templates/list", "resourceTemplates", "name", [], ["note"]],
  ["prompts/list", "prompts", "name", ["ask"], ["ask", "tell"]],
];

test.each(LISTS)(
  "%s shows what the token's scopes are enough for, to its user alone",
  async (method, member, key, ...lists) => {
    const serving = await serve();
    for (const [token, names] of [
      ["none", lists[0]],
      ["files.see", lists[1]],
      ["all", lists[1]],
      ["none", lists[0]],
    ] as const) {
      const { result } = await answerOf(modern(serving, token, method));
      expect(result[member].map((each: Json) => each[key])).toEqual(names);
      expect(result.cacheScope).toBe("private");
      // What is needed is between the server and the token.
      expect(JSON.stringify(result)).not.toContain("scopes");
      const session = await legacy(serving, token);
      const asked = await answerOf(session.post({ jsonrpc: "2.0", id: 1, method }));
      expect(asked.result[member].map((each: Json) => each[key])).toEqual(names);
    }
  },
);

const GUARDED: [method: string, params: Json, scopes: string][] = [
  ["tools/call", { name: "erase" }, "files-read files-write"],
  ["resources/read", { uri: "file:///closed" }, "files-read"],
  ["resources/read", { uri: "note:///1" }, "files-read"],
  ["prompts/get", { name: "tell" }, "see"],
  [
    "completion/complete",
    { ref: { type: "ref/prompt", name: "tell" }, argument: { name: "who", value: "" } },
    "see",
  ],
];

describe.each(GUARDED)("%s %j", (method, params, scopes) => {
  test("is a 403 that names all scopes it needs, and goes through with them", async () => {
    const serving = await serve({ ...AUTH, scopes: ["base"] });
    const session = await legacy(serving, "base.files-read");
    const one = scopes === "files-read" ? "base.see" : "base.files-read";
    const requests = [
      modern(serving, one, method, params),
      session.post({ jsonrpc: "2.0", id: 7, method, params }, one),
    ];
    for (const response of await Promise.all(requests)) {
      expect(response.status).toBe(403);
      expect(response.headers.get("www-authenticate")).toBe(
        `Bearer error="insufficient_scope", scope="base ${scopes}", resource_metadata="${METADATA}"`,
      );
      expect(((await response.json()) as Json).error.data).toEqual({
        reason: "insufficient_scope",
        scopes: scopes.split(" "),
      });
    }
    // A broader scope includes the narrower ones.
    for (const token of [`base.${scopes.replaceAll(" ", ".")}`, "base.all"]) {
      expect((await answerOf(modern(serving, token, method, params))).result).toBeDefined();
      expect(
        (await answerOf(session.post({ jsonrpc: "2.0", id: 8, method, params }, token))).result,
      ).toBeDefined();
    }
  });

  test("is closed to all over HTTP where no tokens are asked for, and open in memory", async () => {
    const serving = await guarded(shelf(), undefined);
    open.push(serving);
    const response = await modern(serving, "all", method, params);
    expect(response.status).toBe(403);
    expect(response.headers.get("www-authenticate")).toBeNull();
    const channel = memory(shelf());
    const answered = new Promise<Json>((resolve) =>
      channel.listen(
        (text) => resolve(JSON.parse(text)),
        () => {},
      ),
    );
    channel.send(
      JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: MODERN_META } }),
    );
    expect((await answered).result).toBeDefined();
    await channel.close();
  });
});

test("a batch that lacks scopes is a 403 that names them all, and nothing of it is done", async () => {
  const server = shelf();
  let counted = 0;
  server.tool("count", {}, () => `${++counted}`);
  const serving = await guarded(server, AUTH);
  open.push(serving);
  const session = await legacy(serving, "none", "2025-03-26");
  const read = { jsonrpc: "2.0", id: 3, method: "prompts/get", params: { name: "tell" } };
  const batch = [call(1, "count"), call(2, "erase"), read];
  const response = await session.post(batch);
  expect(response.status).toBe(403);
  expect(response.headers.get("www-authenticate")).toBe(
    `Bearer error="insufficient_scope", scope="files-read files-write see", resource_metadata="${METADATA}"`,
  );
  expect(((await response.json()) as Json).error.data.reason).toBe("insufficient_scope");
  expect(counted).toBe(0);
  const answers = (await (await session.post(batch, "all")).json()) as Json[];
  expect(answers.map((answer) => answer.error)).toEqual([undefined, undefined, undefined]);
  expect(counted).toBe(1);
});

describe("over HTTP+SSE", () => {
  const SSE_METADATA = "https://mcp.example/.well-known/oauth-protected-resource/sse";
  const twoUrls = { ...AUTH, resource: ["https://mcp.example/mcp", "https://mcp.example/sse"] };

  async function connected(serving: HttpServing, token: string) {
    const opened = await fetch(new URL("/sse", serving.url), {
      headers: { accept: "text/event-stream", ...bearer(token) },
    });
    const events = new Events(opened);
    const endpoint = new URL((await events.next())?.data ?? "", serving.url);
    const post = (message: Json | Json[]) =>
      fetch(endpoint, {
        method: "POST",
        headers: { "content-type": "application/json", ...bearer(token) },
        body: JSON.stringify(message),
      });
    const params = { ...INITIALIZE, protocolVersion: "2025-03-26" };
    await post({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    await events.message();
    return { events, post };
  }

  test("a message or a batch that lacks scopes is a 403 that names them, and its metadata", async () => {
    const serving = await guarded(shelf(), twoUrls);
    open.push(serving);
    const { events, post } = await connected(serving, "none");
    for (const message of [call(1, "erase"), [call(2, "look"), call(3, "erase")]]) {
      const refused = await post(message);
      expect(refused.status).toBe(403);
      expect(refused.headers.get("www-authenticate")).toBe(
        `Bearer error="insufficient_scope", scope="files-read files-write", resource_metadata="${SSE_METADATA}"`,
      );
    }
    // Nothing of them is answered on the stream.
    expect((await post(call(4, "look"))).status).toBe(202);
    expect(await events.message()).toMatchObject({ id: 4, result: {} });
  });

  test("the challenge leads to the metadata of its own URL, which a client of it takes", async () => {
    const serving = await guarded(shelf(), twoUrls);
    open.push(serving);
    for (const path of ["/sse", "/messages?sessionId=x"]) {
      const method = path === "/sse" ? "GET" : "POST";
      const { status, headers } = await fetch(new URL(path, serving.url), { method });
      expect([status, headers.get("www-authenticate")]).toEqual([
        401,
        `Bearer resource_metadata="${SSE_METADATA}"`,
      ]);
    }
    const at = async (path: string) => (await fetch(new URL(path, serving.url))).json();
    expect(await at(new URL(SSE_METADATA).pathname)).toMatchObject({ resource: "https://mcp.example/sse" });
    expect(await at(new URL(METADATA).pathname)).toMatchObject({ resource: "https://mcp.example/mcp" });
  });

  test("a URL above both is the resource of both", async () => {
    const serving = await guarded(shelf(), { ...AUTH, resource: "https://mcp.example" });
    open.push(serving);
    const { headers } = await fetch(new URL("/sse", serving.url));
    expect(headers.get("www-authenticate")).toBe(
      'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource"',
    );
  });
});

describe("what took a token", () => {
  const plain = () => {
    const server = new McpServer({ name: "plain", version: "1" }, { cache: { ttlMs: 1000 } });
    server.tool("look", {}, () => "looked");
    return server;
  };
  const LISTED = ["server/discover", "tools/list"];

  test.each(LISTED)("by %s is for nobody else's cache, though it is the same for all", async (method) => {
    const server = plain();
    const [closed, opened] = [await guarded(server, AUTH), await guarded(server, undefined)];
    open.push(closed, opened);
    const scopeOf = async (serving: HttpServing, token?: string) =>
      (await answerOf(modern(serving, token, method))).result.cacheScope;
    // One after the other, for what was written for one must not be given to the other.
    expect(await scopeOf(opened)).toBe("public");
    expect(await scopeOf(closed, "none")).toBe("private");
    expect(await scopeOf(opened)).toBe("public");
  });

  test("is for all where the server says so, but for what differs", async () => {
    const server = new McpServer({ name: "open", version: "1" }, { cache: { cacheScope: "public" } });
    server.tool("look", {}, () => "looked");
    server.prompt("tell", { scopes: ["see"] }, () => "tell");
    const everybody = { cacheScope: "public" as const };
    server.resource("note:///1", { name: "1", cache: everybody }, () => "open");
    server.resource("note:///2", { name: "2", cache: everybody, scopes: ["see"] }, () => "closed");
    server.resource("note:///3", { name: "3", scopes: ["see"] }, (uri) => ({
      contents: [{ uri, text: "closed" }],
      ttlMs: 5,
      ...everybody,
    }));
    const serving = await guarded(server, AUTH);
    open.push(serving);
    const scopeOf = async (method: string, params: Json = {}) =>
      (await answerOf(modern(serving, "see", method, params))).result.cacheScope;
    expect(await scopeOf("tools/list")).toBe("public");
    expect(await scopeOf("prompts/list")).toBe("private");
    expect(await scopeOf("resources/list")).toBe("private");
    expect(await scopeOf("resources/read", { uri: "note:///1" })).toBe("public");
    for (const uri of ["note:///2", "note:///3"])
      expect(await scopeOf("resources/read", { uri })).toBe("private");
  });
});

test("a resource whose scopes are lacking is not watched either", async () => {
  const serving = await serve();
  const session = await legacy(serving, "none");
  const subscribe = (uri: string) =>
    session.post({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } });
  expect((await answerOf(subscribe("file:///closed"))).error.code).toBe(-32002);
  expect((await answerOf(subscribe("note:///1"))).error.code).toBe(-32002);
  expect((await answerOf(subscribe("file:///open"))).result).toEqual({});
});

test("what is no scope is not defined", () => {
  const server = new McpServer({ name: "s", version: "1" });
  expect(() => server.tool("t", { scopes: ["a b"] }, () => "")).toThrow('Tool "t": "a b" is no scope');
  expect(() => server.prompt("p", { scopes: [""] }, () => "")).toThrow('Prompt "p": "" is no scope');
});

describe("the metadata", () => {
  test("is at the resource's own place and at the root, for everybody, and nowhere else", async () => {
    const serving = await serve({
      ...AUTH,
      scopes: ["base"],
      metadata: { resource_documentation: "https://d.example" },
    });
    const at = (path: string, init?: RequestInit) => fetch(new URL(path, serving.url), init);
    for (const path of [
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-protected-resource",
    ]) {
      const response = await at(path);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.json()).toEqual({
        resource: "https://mcp.example/mcp",
        authorization_servers: ["https://idp.example"],
        bearer_methods_supported: ["header"],
        scopes_supported: ["base"],
        resource_name: "shelf",
        dpop_signing_alg_values_supported: expect.arrayContaining(["ES256"]),
        resource_documentation: "https://d.example",
      });
      expect((await at(path, { method: "POST" })).status).toBe(405);
    }
    for (const path of [
      "/.well-known/oauth-protected-resource/other",
      "/.well-known/oauth-protected-resourcex",
    ]) {
      expect((await at(path)).status).toBe(404);
    }
  });

  test("is there only where tokens are asked for", async () => {
    const serving = await serveHttp(shelf(), { port: 0 });
    open.push(serving);
    expect((await fetch(new URL("/.well-known/oauth-protected-resource/mcp", serving.url))).status).toBe(404);
  });

  test.each([
    [{ ...AUTH, resource: "mcp.example" }, "is not the URL of this server"],
    [{ ...AUTH, resource: "https://mcp.example/#x" }, "is not the URL of this server"],
    [{ verify, authorizationServers: ["https://idp.example"] }, "auth.resource is missing"],
    [{ ...AUTH, scopes: ["offline_access"] }, "offline_access"],
    [{ ...AUTH, verify: undefined as never }, "auth.verify is missing"],
  ])("is not made of what is wrong: %j", async (auth, why) => {
    await expect(guarded(shelf(), auth)).rejects.toThrow(why);
  });
});

describe("a page of an allowed origin", () => {
  const origin = "http://localhost:6274";

  test("may ask beforehand without a token, and reads the metadata and the challenge", async () => {
    const serving = await serve();
    const preflight = await fetch(serving.url, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-protocol-version",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
    const challenged = await fetch(serving.url, { method: "POST", headers: { origin } });
    const metadata = await fetch(new URL("/.well-known/oauth-protected-resource", serving.url), {
      headers: { origin },
    });
    expect([challenged.status, metadata.status]).toEqual([401, 200]);
    for (const { headers } of [challenged, metadata]) {
      expect(headers.get("access-control-allow-origin")).toBe(origin);
      const exposed = headers.get("access-control-expose-headers")?.split(", ");
      expect(exposed).toEqual(expect.arrayContaining(["www-authenticate", "mcp-session-id"]));
    }
  });

  test("of another origin does not, with a good token either", async () => {
    const serving = await guarded(shelf(), AUTH, { allowedOrigins: ["https://app.example"] });
    open.push(serving);
    for (const path of ["/mcp", "/.well-known/oauth-protected-resource"]) {
      const headers = { origin, authorization: "Bearer all" };
      const response = await fetch(new URL(path, serving.url), { headers });
      expect(response.status).toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});
