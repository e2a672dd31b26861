/** What is sent: the handshakes and the calls of each era, and how an answer is checked. */

export const MODERN = "2026-07-28";
export const LEGACY = "2025-11-25";
const clientInfo = { name: "patchbay-bench", version: "1.0.0" };

/** Every number has as many digits, so that every request of a run is as long, and its head can be made once. */
export const FIRST_NUMBER = 10_000_000;
const PLACEHOLDER = "_NUMBER_";

/**
 * A call: what is asked with number n, and what must come back.
 * @typedef {object} Call
 * @property {string} method
 * @property {string} [name] what `Mcp-Name` says
 * @property {(n: string) => object} params
 * @property {(result: any, n: number) => boolean} isRight
 * @property {boolean} [reports] a notification of its progress comes before its answer
 */

const wordsOf = (n) => `Say request ${n} back to me, word for word.`;

/** `tools/call` of `echo` with a text of its own for each request. @type {Call} */
export const echo = {
  method: "tools/call",
  name: "echo",
  params: (n) => ({ name: "echo", arguments: { text: wordsOf(n) } }),
  isRight: (result, n) =>
    result?.content?.length === 1 &&
    result.content[0].type === "text" &&
    result.content[0].text === wordsOf(n),
};

/** The same, and it wants to be told of progress. @type {Call} */
export const reportingEcho = {
  ...echo,
  params: (n) => ({ ...echo.params(n), _meta: { progressToken: n } }),
  reports: true,
};

/** The tools of workload `100-tools`. @type {Call} */
export const listTools = {
  method: "tools/list",
  params: () => ({}),
  isRight: (result) => result?.tools?.length === 100 && result.tools.every((tool) => tool.inputSchema),
};

function metaOf(revision) {
  return {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": clientInfo,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}

export const isModern = (revision) => revision >= MODERN;

/** A request as an object. */
export function requestOf(revision, id, method, params) {
  const meta = isModern(revision) && { _meta: { ...params._meta, ...metaOf(revision) } };
  return { jsonrpc: "2.0", id, method, params: { ...params, ...meta } };
}

/** Makes a call's JSON from its number. @param {Call} call */
export function requestWriter(call, revision) {
  const pieces = JSON.stringify(requestOf(revision, PLACEHOLDER, call.method, call.params(PLACEHOLDER)))
    // The id is a number, and so is a token.
    .replaceAll(`"${PLACEHOLDER}"`, PLACEHOLDER)
    .split(PLACEHOLDER);
  return (n) => pieces.join(n);
}

/** The messages that open a connection: requests have an id, notifications none. */
export function handshake(revision) {
  if (isModern(revision)) return [requestOf(revision, 1, "server/discover", {})];
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  return [
    { jsonrpc: "2.0", id: 1, method: "initialize", params },
    { jsonrpc: "2.0", method: "notifications/initialized" },
  ];
}

/** The HTTP headers that say what a message is (Streamable HTTP § Request Metadata); a session has one more. */
export function metadataHeaders(revision, method, name) {
  if (method === "initialize") return {};
  const headers = { "mcp-protocol-version": revision };
  if (isModern(revision)) {
    headers["mcp-method"] = method;
    if (name !== undefined) headers["mcp-name"] = name;
  }
  return headers;
}
