/** A transport whose messages somebody is told of, both ways: for a log, a recording, a look at a connection. */

import { type InvalidMessage, type Message, writeNotification } from "@patchbay/core";
import type { RequestHead, Transport } from "./transport.ts";

/** A JSON-RPC message that went over a connection. */
export interface WireMessage {
  direction: "sent" | "received";
  /** As JSON. What came in is written anew: its members are the same, its spaces and their order need not be. */
  text: string;
}

/** Is told each message, before it is acted on. What it throws is lost: it only looks on. */
export type OnMessage = (message: WireMessage) => void;

/** The same transport, with somebody who looks on. */
export function observed<Observed extends Transport>(transport: Observed, onMessage: OnMessage): Observed {
  const tell = (direction: WireMessage["direction"], text: string) => {
    try {
      onMessage({ direction, text });
    } catch {
      // It only looks on.
    }
  };
  const instead: Pick<Transport, "listen" | "send" | "post" | "cancel"> = {
    listen: (receiver) =>
      transport.listen(
        over(receiver, {
          onMessage(message: Message | InvalidMessage, requestId?: number) {
            tell("received", written(message));
            return receiver.onMessage(message, requestId);
          },
        }),
      ),
    send(text: string, head: RequestHead) {
      tell("sent", text);
      transport.send(text, head);
    },
    post(text, limit) {
      tell("sent", text);
      return transport.post(text, limit);
    },
    cancel(requestId, reason, notify) {
      if (notify) tell("sent", writeNotification("notifications/cancelled", { requestId, reason }));
      transport.cancel(requestId, reason, notify);
    },
  };
  return over(transport, instead);
}

/** An object with some of its methods replaced; the others are its own, and see itself as `this`. */
function over<T extends object>(object: T, instead: object): T {
  return new Proxy(object, {
    get(target, key) {
      if (key in instead) return Reflect.get(instead, key);
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function written({ kind, ...message }: Message | InvalidMessage): string {
  if (kind !== "invalid") return JSON.stringify({ jsonrpc: "2.0", ...message });
  const { id, error } = message as InvalidMessage;
  return JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error });
}
