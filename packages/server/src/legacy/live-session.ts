/** What is going on in a legacy session on this instance: its requests being answered, and ours that wait. */

import type { RequestId } from "@patchbay/core";
import type { Call } from "../exchange.ts";
import { ClientRequests } from "./push.ts";

export class LiveSession {
  readonly calls = new Map<RequestId, Call>();
  readonly asked: ClientRequests;

  constructor(answerTimeout: number | undefined) {
    this.asked = new ClientRequests(answerTimeout);
  }

  /** Nothing is going on: it need not be kept. */
  get idle(): boolean {
    return this.calls.size === 0 && this.asked.size === 0;
  }

  /** The session has ended. */
  end(): void {
    for (const call of this.calls.values()) call.cancel("the session ended");
    this.asked.close();
  }
}
