/** A server in this same process: no framing, no negotiation of bytes, the same messages. */

import { type ChannelServer, channelPair } from "@patchbay/core";
import type { Settings } from "../options.ts";
import { channelTransport } from "./channel.ts";
import type { Transport } from "./transport.ts";

/** Has a server serve one end of a pair, and takes the other. */
export function memoryTransport(server: ChannelServer, settings: Settings): Transport {
  const [ours, theirs] = channelPair();
  server.serve(theirs);
  return channelTransport(ours, {
    serverName: "the server in this process",
    probeExpired: () => new Promise((resolve) => setTimeout(resolve, settings.probeTimeout).unref()),
    evidence: () => "",
    onStray: () => {},
  });
}
