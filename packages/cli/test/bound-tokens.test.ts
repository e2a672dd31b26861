/** Tokens that are bound to a key, from a real authorization server, by our client to our server, behind a balancer. */

import { createServer, type IncomingHttpHeaders, request } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "@patchbay/client";
import { memoryStore, whoami } from "@patchbay/client/oauth";
import { McpServer } from "@patchbay/server";
import { jwtVerifier } from "@patchbay/server/auth";
import { httpHandler } from "@patchbay/server/http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { browserOf, type RealProvider, realProvider } from "../../client/test/oauth/provider.ts";

const closing: (() => Promise<void>)[] = [];
let provider: RealProvider;
/** As clients use it. */
let url: string;
/** What came through the balancer. */
const heard: { method: string; headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
  provider = await realProvider({ features: { dPoP: { enabled: true } } });
  closing.push(() => provider.close());
  let handler: ReturnType<typeof httpHandler> | undefined;
  const inside = await listening((request, response) => handler?.(request, response));
  const outside = await listening((incoming, response) => forward(incoming, response, inside));
  url = `http://127.0.0.1:${outside}/tools/mcp`;
  const mcp = new McpServer({ name: "protected", version: "1.0.0" });
  mcp.tool("who", {}, (_, { auth }) => `${auth?.subject}`);
  mcp.tool("change", { scopes: ["read", "write"] }, (_, { auth }) => `${auth?.subject} changed it`);
  handler = httpHandler(mcp, "127.0.0.1", {
    auth: {
      verify: jwtVerifier({ issuer: provider.issuer, audience: url, type: "at+jwt" }),
      scopes: ["read"],
      dpop: { required: true, nonces: true, publicUrl: `http://127.0.0.1:${outside}/tools` },
    },
  });
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function listening(handle: Parameters<typeof createServer>[1] & {}): Promise<number> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return (server.address() as AddressInfo).port;
}

/** A balancer that takes `/tools` off. */
async function forward(
  incoming: Parameters<NonNullable<Parameters<typeof createServer>[1] & {}>>[0],
  response: Parameters<NonNullable<Parameters<typeof createServer>[1] & {}>>[1],
  port: number,
): Promise<void> {
  let body = "";
  for await (const piece of incoming) body += piece;
  const { method = "", headers } = incoming;
  heard.push({ method, headers, body });
  const path = incoming.url?.replace(/^\/tools/, "");
  const onward = request({ port, host: "127.0.0.1", method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.end(body);
}

test("a user logs in, calls, and is allowed more, and what is overheard is worth nothing", async () => {
  const store = memoryStore();
  const client = await connect(url, { auth: { store, onAuthorize: browserOf("ann") } });
  try {
    expect((await client.callTool("who")).content).toEqual([{ type: "text", text: "ann" }]);
    expect((await client.callTool("change")).content).toEqual([{ type: "text", text: "ann changed it" }]);
    expect((await store.get("grant", url))?.tokenType).toBe("dpop");
    expect((await whoami(url, store))?.scopes).toEqual(expect.arrayContaining(["read", "write"]));

    const last = heard.findLast(({ body }) => body.includes("tools/call"));
    const token = last?.headers.authorization?.replace(/^DPoP /, "");
    const own = Object.entries(last?.headers ?? {}).filter(([name]) =>
      /^(accept|content-type|mcp-)/.test(name),
    );
    const overheard: Record<string, string>[] = [
      { authorization: `DPoP ${token}`, dpop: String(last?.headers.dpop) },
      { authorization: `DPoP ${token}` },
      { authorization: `Bearer ${token}` },
    ];
    for (const credentials of overheard) {
      const headers = { ...(Object.fromEntries(own) as Record<string, string>), ...credentials };
      const again = await fetch(url, { method: "POST", headers, body: last?.body ?? "" });
      expect(again.status).toBe(401);
    }
  } finally {
    await client.close();
  }
});
