/** A page as it was read: Markdown, and what it says of itself. */

/** What came from the web, to be read. */
export interface Source {
  bytes: Uint8Array;
  /** As the site said, such as `text/html; charset=utf-8`; empty where it said nothing. */
  contentType: string;
  /** Where it was found. */
  url: string;
}

export interface Page {
  title?: string | undefined;
  description?: string | undefined;
  markdown: string;
}

/** Why a page cannot be read; the message is fit to be shown. */
export class UnreadableError extends Error {
  override readonly name = "UnreadableError";
}

export function outOfMemory(megabytes: number): UnreadableError {
  return new UnreadableError(`reading it takes more memory than maxReaderMegabytes allows (${megabytes})`);
}
