/** A transport whose connection can be opened again: a process, or a stream of events that all requests share. */

import type { Revision } from "@patchbay/core";
import type { Receiver, Transport } from "./transport.ts";

/** Opens a connection by `begin`, and again when it has ended and `reopen` is called. */
export function reopened(begin: () => Transport): Transport {
  let current = begin();
  let receiver: Receiver;
  let revision: Revision | undefined;
  let closing: Promise<void> | undefined;
  return {
    serverName: current.serverName,
    mirrorsParams: current.mirrorsParams,

    listen(to) {
      receiver = to;
      current.listen(to);
    },

    send: (text, head) => current.send(text, head),
    post: (text) => current.post(text),
    cancel: (requestId, reason, notify) => current.cancel(requestId, reason, notify),
    probeExpired: () => current.probeExpired(),
    evidence: () => current.evidence(),

    adopt(agreed) {
      revision = agreed;
      current.adopt(agreed);
    },

    async reopen() {
      // What is left of the old one must not stand in the way of the new one.
      await current.close();
      if (closing !== undefined) return;
      current = begin();
      current.listen(receiver);
      if (revision !== undefined) current.adopt(revision);
    },

    close() {
      closing ??= current.close();
      return closing;
    },
  };
}
