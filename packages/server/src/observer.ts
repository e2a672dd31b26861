/** Who looks on while a server is served, such as metrics and logs. It changes nothing, and costs nothing where nobody does. */

import type { Revision } from "@patchbay/core";
import type { Reply } from "./dispatch.ts";
import { ReadyPage } from "./listing.ts";

/** What became of a request. `tool_error` is a result with `isError`. */
export type Outcome = "ok" | "tool_error" | "input_required" | "error" | "cancelled";

export interface Observer {
  /**
   * A request begins to be answered.
   *
   * @param method as the client wrote it
   * @returns is called once, when it is answered
   */
  request?(method: string, revision: Revision): (outcome: Outcome) => void;
  /** A legacy HTTP session was opened by its client, or deleted. Its id is a secret. */
  session?(event: "opened" | "deleted", id: string): void;
  /**
   * Something failed whose details the client is not told. With an observer that takes errors, the default `onError`
   * prints none.
   *
   * @param where the tool or method
   */
  error?(error: unknown, where: string): void;
}

/** Several as one. */
export function together(observers: readonly Observer[]): Observer | undefined {
  const [first, ...others] = observers;
  if (first === undefined || others.length === 0) return first;
  const takers = observers.filter(({ error }) => error !== undefined);
  return {
    request(method, revision) {
      const ends = observers.map((observer) => observer.request?.(method, revision));
      return (outcome) => {
        for (const end of ends) end?.(outcome);
      };
    },
    session(event, id) {
      for (const observer of observers) observer.session?.(event, id);
    },
    ...(takers.length > 0 && {
      error(error: unknown, where: string) {
        for (const observer of takers) observer.error?.(error, where);
      },
    }),
  };
}

/** What a reply means for its request. */
export function outcomeOf(reply: Reply): Outcome {
  if (reply instanceof ReadyPage) return "ok";
  if (reply.isError === true) return "tool_error";
  return reply.resultType === "input_required" ? "input_required" : "ok";
}
