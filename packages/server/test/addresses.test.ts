/** Hosts, origins and paths that a server is told of: what could never be matched is refused when it starts. */

import { describe, expect, test } from "vitest";
import { McpServer } from "../src/index.ts";
import { type HttpOptions, serveHttp } from "../src/transports/http.ts";

const server = new McpServer({ name: "s", version: "1" });
const serve = (options: HttpOptions) => serveHttp(server, { port: 0, ...options });

describe("what is no address", () => {
  test.each([
    [{ allowedHosts: [""] }, /allowedHosts: "" is no host name/],
    [{ allowedHosts: ["https://a.example"] }, /without a scheme, port or path/],
    [{ allowedHosts: ["a.example:443"] }, /"a.example:443" is no host name/],
    [{ allowedHosts: ["::1"] }, /or "\[::1\]"/],
    [{ allowedOrigins: ["app.example"] }, /allowedOrigins: "app.example" is no origin/],
    [{ allowedOrigins: ["https://app.example/"] }, /without a path/],
    [{ path: "mcp" }, /The path "mcp" cannot be one: it begins with "\/"/],
    [{ path: "/mcp?a" }, /has no "\?"/],
    [{ path: "/sse" }, /The path "\/sse" is taken/],
    [{ path: "/readyz" }, /The path "\/readyz" is taken/],
    [{ sse: { path: "/a", messagesPath: "/a" } }, /The path "\/a" is taken/],
  ] satisfies [HttpOptions, RegExp][])("%j", async (options, what) => {
    await expect(serve(options)).rejects.toThrow(what);
  });
});

test("what is one is taken, in any case", async () => {
  const running = await serve({
    allowedHosts: ["Mcp.Example.com", "[::1]", "10.0.0.1", "a_b", "127.0.0.1"],
    allowedOrigins: ["https://app.example:8443", "null", "vscode-webview://abc"],
    path: "/a/b-c_d.~%20",
  });
  const { status } = await fetch(running.url);
  expect(status).toBe(400);
  await running.close();
});
