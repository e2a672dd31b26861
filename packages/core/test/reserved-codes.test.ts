/** The newest revision says no code that it does not define. */

import { expect, test } from "vitest";
import { ProtocolError } from "../src/errors.ts";
import { wireOf } from "../src/wire/wire.ts";

test.each([
  [-32002, -32602],
  [-32042, -32603],
  [-32023, -32603],
  [-32099, -32603],
  [-32020, -32020],
  [-32021, -32021],
  [-32602, -32602],
  [-31000, -31000],
  [-32019, -32019],
])("2026-07-28 sends %i as %i", (thrown, sent) => {
  const error = wireOf("2026-07-28").error(new ProtocolError(thrown, "m", { d: 1 }));
  expect(error).toEqual({ code: sent, message: "m", data: { d: 1 } });
  expect(wireOf("2025-11-25").error(new ProtocolError(thrown, "m")).code).toBe(thrown);
});
