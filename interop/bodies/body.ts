/** What a body of tests is given: a client and a server that are connected. */

import type { Answers, PeerClient } from "../clients/peer-client.ts";

export interface Connected {
  readonly client: PeerClient;
  /** What the client answers with; a test sets it. */
  readonly answers: Answers;
  /** Another client, that can be asked nothing, of the same server of HTTP. */
  connectMute(): Promise<PeerClient>;
  /** Ends a server of HTTP. */
  stopServer(): Promise<void>;
}

export interface Circumstances {
  readonly client: string;
  readonly server: "patchbay" | "sdk-v1" | "sdk-v2";
  readonly transport: "stdio" | "http" | "sse";
  readonly modern: boolean;
}
