/** A message is one event of one line, whatever its text holds. */

import { expect, test } from "vitest";
import { SSE_KEEP_ALIVE, sseEvent } from "../src/framing/sse.ts";
import { writeNotification } from "../src/jsonrpc.ts";

test("an event is its type, its data and an empty line", () => {
  const text = writeNotification("notifications/message", { data: "a\nb\r\n\ndata: c\u2028" });
  const lines = sseEvent(text).split(/\r\n|\r|\n/);
  expect(lines).toEqual(["event: message", `data: ${text}`, "", ""]);
});

test("a keep-alive is a comment and dispatches nothing", () => {
  expect(SSE_KEEP_ALIVE).toBe(":\n\n");
});
