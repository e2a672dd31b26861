/** The floor: the JSON work of `tools/call` and nothing of MCP. */

import { tools } from "./workload.mjs";

const handlers = new Map(
  tools.map(({ name, run }) => [name, (args) => ({ content: [{ type: "text", text: run(args) }] })]),
);

/** One message in, one out, as text. */
export function answer(json) {
  const { id, params } = JSON.parse(json);
  const result = handlers.get(params.name)(params.arguments);
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}
