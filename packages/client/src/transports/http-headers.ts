/** The headers of a request to an MCP endpoint (basic/transports/streamable-http § Request Metadata). */

/** These say what the message is; a caller's own would contradict it. */
const OURS = /^(?:accept|content-type|content-length|host|connection|transfer-encoding|mcp-.*)$/;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The headers that all requests share, as undici takes them: name, value, name, value.
 *
 * @throws TypeError when a header cannot be one; its value is not shown
 */
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
    if (!NAME.test(name))
      throw new TypeError(`${JSON.stringify(name.slice(0, 100))} is not a name for a header`);
    if (!VALUE.test(value))
      throw new TypeError(`The value of the header "${name}" has characters that no header may have`);
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
