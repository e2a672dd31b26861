/** Bytes to text: in the charset that the bytes, the site or the page says, found as browsers do. */

/** How many bytes of a page may say its charset (HTML § 13.2.3.2). */
const MAX_SNIFFED = 1024;

const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ["utf-8", [0xef, 0xbb, 0xbf]],
  ["utf-16be", [0xfe, 0xff]],
  ["utf-16le", [0xff, 0xfe]],
];

/** @param contentType as the site said */
export function decode(bytes: Uint8Array, contentType: string): string {
  const mark = MARKS.find(([, start]) => start.every((byte, index) => bytes[index] === byte))?.[0];
  const said = mark ?? usable(charsetIn(contentType)) ?? usable(declaredIn(bytes));
  if (said === "windows-1252") return western(bytes);
  if (said !== undefined) return new TextDecoder(said).decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // What is not UTF-8 and says nothing is most likely old, and Western.
    return western(bytes);
  }
}

/** 0x80 to 0x9F in windows-1252; the rest is Latin 1. */
const WESTERN = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008DŽ\u008F\u0090‘’“”•–—˜™š›œ\u009DžŸ";

/** windows-1252: Node's own decoder takes it for Latin 1. */
function western(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("latin1")
    .replace(/[\x80-\x9f]/g, (character) => WESTERN.charAt(character.charCodeAt(0) - 0x80));
}

function charsetIn(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^"';\s]+)/i.exec(contentType)?.[1];
}

/** What a `<meta>` or an XML declaration says. It was read as ASCII, so it cannot be UTF-16. */
function declaredIn(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, MAX_SNIFFED))
    .toString("latin1")
    .replace(/<!--[\s\S]*?-->/g, "");
  const xml = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)/i.exec(start)?.[1];
  const meta = /<meta[^>]*\scharset\s*=\s*["']?([^"'\s/>;]+)/i.exec(start)?.[1];
  const equiv = /<meta[^>]*content\s*=\s*["'][^"'>]*charset\s*=\s*([^"'\s;>]+)/i.exec(start)?.[1];
  const declared = xml ?? meta ?? equiv;
  return declared !== undefined && /^utf-?16/i.test(declared) ? "utf-8" : declared;
}

/** The charset's name, if there is such a charset. */
function usable(charset: string | undefined): string | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    return undefined;
  }
}
