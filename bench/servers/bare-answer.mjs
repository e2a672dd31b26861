/** The floor: the JSON work of `tools/call`, with all that an answer of 2026-07-28 has, and nothing of MCP. */

import { tools } from "./workload.mjs";

const _meta = { "io.modelcontextprotocol/serverInfo": { name: "bench", version: "1.0.0" } };
const handlers = new Map(
  tools.map(({ name, run }) => [
    name,
    (args) => ({ content: [{ type: "text", text: run(args) }], resultType: "complete", _meta }),
  ]),
);

/** One message in, one out, as text. */
export function answer(json) {
  const { id, params } = JSON.parse(json);
  const result = handlers.get(params.name)(params.arguments);
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}
