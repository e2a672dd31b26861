/** Roots: where a client lets a server work (client/roots). */

import type { Meta } from "./base.ts";

export interface Root {
  /** A `file:` URI. */
  uri: string;
  name?: string;
  _meta?: Meta;
}

export interface ListRootsResult {
  roots: Root[];
  _meta?: Meta;
}
