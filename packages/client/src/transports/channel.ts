/** A client's end of a Channel: all requests share it, and ids tell their answers apart. */

import { type Channel, parseMessage, writeNotification } from "@patchbay/core";
import type { Receiver, RequestHead, Transport } from "./transport.ts";

/** What differs between the channels. */
export interface ChannelKind {
  /** The server, as errors name it. */
  serverName: string;
  probeExpired: () => Promise<void>;
  evidence: () => string;
  /** Is told what came in and is no message. */
  onStray: (text: string) => void;
}

/** Makes a transport of a channel. */
export function channelTransport(channel: Channel, kind: ChannelKind): Transport {
  return {
    serverName: kind.serverName,
    probeExpired: kind.probeExpired,
    evidence: kind.evidence,

    listen(receiver: Receiver) {
      channel.listen(
        (text) => {
          const message = parseMessage(text);
          if (!receiver.onMessage(message) && message.kind === "invalid") kind.onStray(text);
        },
        (cause) => receiver.onClose(cause),
      );
    },

    send(text: string, _request: RequestHead) {
      channel.send(text);
    },

    async post(text: string) {
      channel.send(text);
    },

    cancel(requestId: number, reason: string, notify: boolean) {
      if (notify) channel.send(writeNotification("notifications/cancelled", { requestId, reason }));
    },

    adopt() {},
    close: () => channel.close(),
  };
}
