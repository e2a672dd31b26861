/** Values that an HTTP header may not be able to carry as they are (streamable-http § Value Encoding). */

const PLAIN = /^(?:[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)?$/;
/** With its padding: `atob` would do without. */
const SENTINEL = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** The value as it goes into a header: as it is, or as `=?base64?…?=`. */
export function encodeHeaderValue(value: string): string {
  if (PLAIN.test(value) && !(value.startsWith("=?base64?") && value.endsWith("?="))) return value;
  let binary = "";
  for (const byte of new TextEncoder().encode(value)) binary += String.fromCharCode(byte);
  return `=?base64?${btoa(binary)}?=`;
}

/** What a header's value means; nothing when it is encoded, but wrongly. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!value.startsWith("=?base64?") || !value.endsWith("?=")) return value;
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(encoded), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
