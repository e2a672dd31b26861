/** Where `serve` listens: the option, else the environment, else the usual. */

import { expect, it } from "vitest";
import { planOf, type ServeOptions } from "../src/serving/plan.ts";

const ENVIRONMENT = { MCP_HTTP_HOST: "127.0.0.2", MCP_STREAMABLE_HTTP_PORT: "4002", MCP_SSE_PORT: "4001" };

it.each<[ServeOptions, Record<string, string>, object]>([
  [{ http: true }, {}, { port: 3000, host: undefined, sse: false }],
  [{ sse: true }, {}, { port: 3001, host: undefined, sse: true }],
  [{ http: true }, ENVIRONMENT, { port: 4002, host: "127.0.0.2", sse: false }],
  [{ sse: true }, ENVIRONMENT, { port: 4001, host: "127.0.0.2", sse: true }],
  [{ http: "5000", host: "127.0.0.3" }, ENVIRONMENT, { port: 5000, host: "127.0.0.3" }],
  [{ sse: "0" }, ENVIRONMENT, { port: 0 }],
  [{ http: true }, { MCP_STREAMABLE_HTTP_PORT: "", MCP_HTTP_HOST: "" }, { port: 3000, host: undefined }],
])("%j with %j", (options, environment, expected) => {
  expect(planOf(options, { ...environment })).toMatchObject(expected);
});

it.each<[ServeOptions, Record<string, string>, string]>([
  [
    { http: true },
    { MCP_STREAMABLE_HTTP_PORT: "x" },
    'MCP_STREAMABLE_HTTP_PORT is a port from 0 to 65535, not "x".',
  ],
  [{ sse: "70000" }, {}, "--sse takes a port from 0 to 65535"],
  [{ http: true, sse: true }, {}, "Serve by --http or --sse, not both"],
  [{ stdio: true, sse: true }, {}, "Serve over --stdio or --sse, not both."],
])("refuses %j with %j", (options, environment, message) => {
  expect(() => planOf(options, { ...environment })).toThrow(message);
});
