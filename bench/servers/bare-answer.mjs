/** The floor: the JSON work of `tools/call` and nothing of MCP. */

const tools = new Map([["echo", ({ text }) => ({ content: [{ type: "text", text }] })]]);

/** One message in, one out, as text. */
export function answer(json) {
  const { id, params } = JSON.parse(json);
  const result = tools.get(params.name)(params.arguments);
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}
