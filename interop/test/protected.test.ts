/** The official SDK's clients log in to our server, at a real authorization server. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@patchbay/server";
import { jwtVerifier } from "@patchbay/server/auth";
import { type HttpServing, httpHandler } from "@patchbay/server/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserOf, type RealProvider, realProvider } from "../../packages/client/test/oauth/provider.ts";

const BACK = "http://127.0.0.1:9/callback";
/** A client that was registered before, for all scopes: the SDK registers for those of its first challenge alone. */
const KNOWN = "known";

let provider: RealProvider;
let serving: Pick<HttpServing, "url" | "close">;

beforeAll(async () => {
  const known = { client_id: KNOWN, redirect_uris: [BACK], application_type: "native" as const };
  provider = await realProvider({ clients: [{ ...known, token_endpoint_auth_method: "none" }] });
  serving = await serve(provider.issuer);
});

afterAll(async () => {
  await serving.close();
  await provider.close();
});

/** Its URL is what its tokens are for, so it has to be known before. */
async function serve(issuer: string): Promise<typeof serving> {
  const mcp = new McpServer({ name: "protected", version: "1.0.0" });
  mcp.tool("who", {}, (_, { auth }) => `${auth?.subject}: ${auth?.scopes.join(" ")}`);
  mcp.tool("change", { scopes: ["read", "write"] }, (_, { auth }) => `${auth?.subject} changed it`);
  let handler: ReturnType<typeof httpHandler> | undefined;
  const http = createServer((request, response) => handler?.(request, response));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const verify = jwtVerifier({ issuer, audience: url, type: "at+jwt" });
  handler = httpHandler(mcp, "127.0.0.1", {
    auth: { verify, scopes: ["read"], scopesSupported: ["read", "write"] },
  });
  const close = () =>
    new Promise<void>((resolve) => {
      handler?.close();
      http.close(() => resolve());
      http.closeAllConnections();
    });
  return { url, close };
}

/** A user's memory, as both SDKs ask for it; the page that they are sent to is visited at once. */
function user(name: string, clientId?: string) {
  const kept = new Map<string, unknown>();
  if (clientId !== undefined) kept.set("client", { client_id: clientId });
  const visits: URL[] = [];
  const visit = browserOf(name);
  let back: Promise<string> | undefined;
  return {
    visits,
    /** What the browser came back with. */
    back: async () => new URL((await back) ?? "").searchParams,
    provider: {
      redirectUrl: BACK,
      clientMetadata: {
        client_name: "interop",
        redirect_uris: [BACK],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        application_type: "native",
      },
      clientInformation: () => kept.get("client") as never,
      saveClientInformation: (client: unknown) => void kept.set("client", client),
      tokens: () => kept.get("tokens") as never,
      saveTokens: (tokens: unknown) => void kept.set("tokens", tokens),
      saveCodeVerifier: (verifier: string) => void kept.set("verifier", verifier),
      codeVerifier: () => kept.get("verifier") as string,
      redirectToAuthorization(page: URL) {
        visits.push(page);
        back = visit(page.href);
      },
    },
  };
}

interface Sdk {
  connect(transport: never): Promise<void>;
  callTool(call: { name: string }): Promise<unknown>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  close(): Promise<void>;
}

const SDKS: [name: string, open: () => Sdk, transport: typeof TransportV1 | typeof TransportV2][] = [
  ["v1", () => new ClientV1({ name: "v1", version: "1" }) as unknown as Sdk, TransportV1],
  ["v2", () => new ClientV2({ name: "v2", version: "2" }) as unknown as Sdk, TransportV2],
  [
    "v2, modern",
    () =>
      new ClientV2({ name: "v2", version: "2" }, { versionNegotiation: { mode: "auto" } }) as unknown as Sdk,
    TransportV2,
  ],
];

/** v1 is given the code, v2 all that came back, to see whose answer it is. */
async function finish(
  transport: InstanceType<typeof TransportV1 | typeof TransportV2>,
  back: URLSearchParams,
) {
  expect(Object.fromEntries(back)).toHaveProperty("code");
  if (transport instanceof TransportV1) await transport.finishAuth(back.get("code") as string);
  else await transport.finishAuth(back);
}

describe.each(SDKS)("the SDK %s", (name, open, Transport) => {
  /** Logs in, as the SDK has it: the first connection fails, and a second is made. */
  async function login(ann: ReturnType<typeof user>) {
    const transport = () => new Transport(new URL(serving.url), { authProvider: ann.provider as never });
    const first = transport();
    await expect(open().connect(first as never)).rejects.toThrow(/[Uu]nauthorized/);
    expect(ann.visits[0]?.searchParams.get("resource")).toBe(serving.url);
    expect(ann.visits[0]?.searchParams.get("scope")).toMatch(/^read\b/);
    await finish(first, await ann.back());
    const second = transport();
    const client = open();
    await client.connect(second as never);
    return { client, transport: second };
  }

  test("registers, logs in, and calls as its user", async () => {
    const { client } = await login(user(`ann of ${name}`));
    expect(await client.callTool({ name: "who" })).toMatchObject({
      content: [{ type: "text", text: `ann of ${name}: read` }],
    });
    await client.close();
  });

  test("gets more scopes for what needs them", async () => {
    const ann = user(`ann of ${name}`, KNOWN);
    const { client, transport } = await login(ann);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["who"]);
    await expect(client.callTool({ name: "change" })).rejects.toThrow();
    expect(ann.visits[1]?.searchParams.get("scope")).toMatch(/\bread write\b/);
    await finish(transport, await ann.back());
    expect(await client.callTool({ name: "change" })).toMatchObject({
      content: [{ type: "text", text: `ann of ${name} changed it` }],
    });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(["who", "change"]);
    await client.close();
  });
});
