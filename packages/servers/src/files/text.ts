/** Text in files: UTF-8, and what is said of all else. */

const STRICT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const LENIENT = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text, if it is valid UTF-8. A byte order mark stays, so that what is written back is the same. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return STRICT.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text, whatever it is: what is no UTF-8 becomes U+FFFD. */
export function lenientUtf8(bytes: Uint8Array): string {
  return LENIENT.decode(bytes);
}

/** Whether it begins as UTF-16 does. */
export function isUtf16(head: Uint8Array): boolean {
  return (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
}
