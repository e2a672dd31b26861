/** A client's end of a Channel: all requests share it, and ids tell their answers apart. */

import {
  type Channel,
  type InvalidMessage,
  isObject,
  type Revision,
  writeNotification,
} from "@patchbay/core";
import { ConnectionError } from "../errors.ts";
import { eachMessage } from "./incoming.ts";
import type { Receiver, RequestHead, Transport } from "./transport.ts";

/** What differs between the channels. */
export interface ChannelKind {
  /** The server, as errors name it. */
  serverName: string;
  probeExpired: () => Promise<void>;
  evidence: () => string;
  /** Is told what came in and is no message. */
  onStray: (text: string) => void;
  /** Sends what the server does not have to answer, where that is not sent as requests are. */
  post?: (text: string) => void;
}

/** Makes a transport of a channel. */
export function channelTransport(channel: Channel, kind: ChannelKind): Transport {
  let revision: Revision | undefined;
  const post = kind.post ?? ((text: string) => channel.send(text));
  return {
    serverName: kind.serverName,
    mirrorsParams: false,
    probeExpired: kind.probeExpired,
    evidence: kind.evidence,

    listen(receiver: Receiver) {
      channel.listen(
        (text) => {
          eachMessage(text, revision, (message) => {
            if (message.kind === "invalid" && passesLimit(message)) {
              const what = `${kind.serverName} sent a message that passes a limit: ${message.error.message}`;
              return receiver.onClose(new ConnectionError("too-large", what));
            }
            if (!receiver.onMessage(message) && message.kind === "invalid") kind.onStray(text);
          });
        },
        (cause) => receiver.onClose(cause),
      );
    },

    send(text: string, _request: RequestHead) {
      channel.send(text);
    },

    async post(text: string) {
      post(text);
    },

    cancel(requestId: number, reason: string, notify: boolean) {
      if (notify) post(writeNotification("notifications/cancelled", { requestId, reason }));
    },

    adopt(agreed: Revision) {
      revision = agreed;
    },

    close: () => channel.close(),
  };
}

/** Whose answer it is cannot be told: its JSON was not taken. Passed over, somebody would wait for it in vain. */
function passesLimit({ error: { data } }: InvalidMessage): boolean {
  return isObject(data) && typeof data.limit === "string";
}
