/** The headers of a request to an MCP endpoint (basic/transports/streamable-http § Request Metadata). */

/** These say what the message is; a caller's own would contradict it. */
const OURS = /^(?:accept|content-type|content-length|host|connection|transfer-encoding|mcp-.*)$/;

/** The headers that all requests share, as undici takes them: name, value, name, value. */
export function baseHeaders(
  declared: Readonly<Record<string, string>>,
  username: string,
  password: string,
): readonly string[] {
  const headers = new Map([["user-agent", "patchbay"]]);
  if (username !== "" || password !== "") {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    headers.set("authorization", `Basic ${Buffer.from(credentials).toString("base64")}`);
  }
  for (const [name, value] of Object.entries(declared)) {
    const key = name.toLowerCase();
    if (!OURS.test(key)) headers.set(key, value);
  }
  headers.set("content-type", "application/json");
  headers.set("accept", "application/json, text/event-stream");
  return [...headers].flat();
}

/** Plain where that is safe, else Base64 between the marks of § Value Encoding. */
export function encodeHeaderValue(value: string): string {
  const plain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(value);
  if (plain && !(value.startsWith("=?base64?") && value.endsWith("?="))) return value;
  return `=?base64?${Buffer.from(value).toString("base64")}?=`;
}
