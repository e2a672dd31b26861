/** The headers of a request to an MCP endpoint (basic/transports/streamable-http § Request Metadata). */

/** These say what the message is; a caller's own would contradict it. */
const OURS = /^(?:accept|content-type|content-length|host|connection|transfer-encoding|mcp-.*)$/;

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The headers that all requests of a target share, as undici takes them: name, value, name, value.
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
  return [...headers].flat();
}

/** What a POST says besides. */
export const POST_HEADERS = [
  "content-type",
  "application/json",
  "accept",
  "application/json, text/event-stream",
];
/** What a GET for a stream of events says besides. */
export const STREAM_HEADERS = ["accept", "text/event-stream"];

/** Whether a header can carry this as it is. */
export function isHeaderValue(value: string): boolean {
  return VALUE.test(value);
}
