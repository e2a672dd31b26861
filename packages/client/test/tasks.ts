/** What tests of tasks share, whatever the spelling. */

import type { JsonObject } from "@patchbay/core";

export const DONE = { content: [{ type: "text", text: "done" }] };
export const TIMES = { createdAt: "2026-01-01T00:00:00Z", lastUpdatedAt: "2026-01-01T00:00:00Z" };
export const ASKED = {
  who: {
    method: "elicitation/create",
    params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
  },
};
export const paramsOf = (message: JsonObject | undefined) => (message?.params ?? {}) as JsonObject;
export const sent = (received: JsonObject[], wanted: string) =>
  received.filter(({ method }) => method === wanted);

/** A promise that a test settles. */
export function promised<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
