/** A token of the application's own: on every request, in the header, and asked for again when it is refused. */

import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { type Auth, AuthorizationError, type Client, connect, type TokenContext } from "../../src/index.ts";
import { readChallenge } from "../../src/oauth/challenge.ts";
import {
  discovered,
  type Hit,
  type HttpFixture,
  httpFixture,
  initialized,
  json,
  result,
} from "../fixtures/http.ts";

const TEXT = { content: [{ type: "text", text: "done" }] };
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A server that takes only these tokens. */
async function guarded(takes: (token: string | undefined, hit: Hit) => boolean, challenge = "Bearer") {
  const fixture = await httpFixture((hit) => {
    const token = /^Bearer (.*)$/.exec(hit.headers.authorization ?? "")?.[1];
    if (!takes(token, hit)) json(hit, {}, 401, { "www-authenticate": challenge });
    else if (!discovered(hit)) result(hit, TEXT);
  });
  cleanups.push(fixture.close);
  return fixture;
}

async function connected(url: string, auth: Auth): Promise<Client> {
  const client = await connect(url, { auth });
  cleanups.unshift(() => client.close());
  return client;
}

const sent = ({ hits }: HttpFixture) => hits.map(({ headers }) => headers.authorization);

describe("a token", () => {
  test("is on every request, in the header and nowhere else", async () => {
    const server = await guarded((token) => token === "canary");
    const client = await connected(server.url, "canary");
    await client.callTool("print");
    expect(sent(server)).toEqual(["Bearer canary", "Bearer canary"]);
    expect(server.hits.map(({ path, message }) => path + JSON.stringify(message)).join()).not.toContain(
      "canary",
    );
  });

  test("is on the streams and on the end of a legacy session", async () => {
    const fixture = await httpFixture((hit) => {
      if (!initialized(hit, "session-1")) result(hit, TEXT);
    });
    cleanups.push(fixture.close);
    const client = await connect(fixture.url, { auth: "canary" });
    await client.close();
    expect(fixture.hits.map(({ verb }) => verb)).toEqual(["POST", "POST", "POST", "GET", "DELETE"]);
    expect(new Set(sent(fixture))).toEqual(new Set(["Bearer canary"]));
  });

  test("that is refused is an error that does not show it", async () => {
    const server = await guarded(() => false);
    const error = await connect(server.url, { auth: "canary" }).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: "ConnectionError", status: 401 });
    expect(String(error.stack)).not.toContain("canary");
    expect(server.hits).toHaveLength(1);
  });

  test.each([401, 403, 404])("that the server repeats where it answers %i is not shown", async (status) => {
    const server = await httpFixture((hit) => {
      const message = `authorization: ${hit.headers.authorization} will not do`;
      json(hit, { jsonrpc: "2.0", error: { code: -32600, message } }, status);
    });
    cleanups.push(server.close);
    const error = await connect(server.url, { auth: "canary" }).catch((thrown) => thrown);
    expect(error.message).toContain("authorization: Bearer … will not do");
    expect(inspect(error, { depth: 12, showHidden: true })).not.toContain("canary");
  });

  test.each(["two words", "line\nbreak", "", "ü"])("cannot be %j", async (token) => {
    await expect(connect("http://127.0.0.1:9/mcp", { auth: token })).rejects.toThrow(
      "A bearer token consists of",
    );
  });

  test.each([5, true, null])("is neither a text nor given by %o", async (auth) => {
    await expect(connect("http://127.0.0.1:9/mcp", { auth: auth as unknown as string })).rejects.toThrow(
      /auth takes a bearer token, a function that gives one, or the options of a login/,
    );
  });

  test("is not sent over http to another machine", async () => {
    await expect(connect("http://example.com/mcp", { auth: "canary" })).rejects.toThrow(
      "only sent over https",
    );
    await expect(connect("http://127.0.0.1.example.com/", { auth: "canary" })).rejects.toThrow(
      "only sent over https",
    );
  });

  test("and another Authorization exclude each other", async () => {
    for (const target of [
      { url: "http://127.0.0.1:9/", headers: { authorization: "Basic eA==" } },
      { url: "http://user:secret@127.0.0.1:9/" },
    ]) {
      await expect(connect(target, { auth: "canary" })).rejects.toThrow("exclude each other");
    }
  });

  test("does not go where a redirect leads to another origin", async () => {
    const elsewhere = await guarded(() => true);
    const server = await httpFixture((hit) => json(hit, {}, 307, { location: elsewhere.url }));
    cleanups.push(server.close);
    await expect(connect(server.url, { auth: "canary" })).rejects.toThrow("which is not followed");
    expect(elsewhere.hits).toEqual([]);
  });
});

describe("a function that gives tokens", () => {
  test("is called once for all, and again when its token is refused, with what is wanted", async () => {
    const told: TokenContext[] = [];
    const server = await guarded((token) => token === "second", `Bearer realm="x", scope="read write"`);
    const client = await connected(server.url, async (context) => {
      told.push(context);
      return context.refused === undefined ? "first" : "second";
    });
    await Promise.all([client.callTool("a"), client.callTool("b")]);
    expect(told).toEqual([
      { refused: undefined, scope: undefined },
      { refused: "first", scope: "read write" },
    ]);
    expect(sent(server)).toEqual(["Bearer first", "Bearer second", "Bearer second", "Bearer second"]);
  });

  test("is asked once more for all requests that are refused together", async () => {
    let good = "one";
    let calls = 0;
    const server = await guarded((token) => token === good);
    const client = await connected(server.url, async () => {
      calls++;
      return good;
    });
    good = "two";
    await Promise.all(["a", "b", "c", "d"].map((name) => client.callTool(name)));
    expect(calls).toBe(2);
  });

  test("that gives the same again is not believed again", async () => {
    const server = await guarded(() => false);
    await expect(connect(server.url, { auth: () => "same" })).rejects.toMatchObject({ status: 401 });
    expect(server.hits).toHaveLength(1);
  });

  test("that gives another each time is asked twice, and no more", async () => {
    let count = 0;
    const server = await guarded(() => false);
    await expect(connect(server.url, { auth: () => `token-${count++}` })).rejects.toMatchObject({
      status: 401,
    });
    expect(sent(server)).toEqual(["Bearer token-0", "Bearer token-1"]);
  });

  test("that fails says so", async () => {
    const server = await guarded(() => false);
    const auth = () => Promise.reject(new Error("the vault is locked"));
    const error = await connect(server.url, { auth }).catch((thrown) => thrown);
    expect(error).toBeInstanceOf(AuthorizationError);
    expect(error).toMatchObject({ step: "token", reason: "unauthorized" });
    expect(error.message).toContain("the vault is locked");
    expect(server.hits).toEqual([]);
  });
});

describe("a challenge", () => {
  const none = { dpop: false, error: undefined, scope: undefined, resourceMetadata: undefined };
  test.each([
    [undefined, none],
    ["", none],
    ["Basic realm=x", none],
    [
      `Bearer scope="a b", resource_metadata="https://x/y"`,
      { ...none, scope: "a b", resourceMetadata: "https://x/y" },
    ],
    [`bearer  error=insufficient_scope ,scope=a`, { ...none, error: "insufficient_scope", scope: "a" }],
    [`Negotiate abc==, Bearer error="a\\"b"`, { ...none, error: 'a"b' }],
    [`Basic realm="Bearer scope=no", Bearer scope="yes"`, { ...none, scope: "yes" }],
    [
      `DPoP algs="ES256", error="use_dpop_nonce", Bearer scope=a`,
      { ...none, dpop: true, error: "use_dpop_nonce" },
    ],
    [`Bearer resource_metadata=https://x/y?z`, { ...none, resourceMetadata: "https://x/y?z" }],
    [`Bearer scope="never closed`, none],
    [`Bearer ${"a=b, ".repeat(5_000)}scope=x`, none],
  ])("%j is read", (header, expected) => {
    expect(readChallenge(header)).toEqual(expected);
  });
});
