/** Headers that come twice: which of them is meant cannot be known. */

import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { RefusedTokenError } from "../../src/auth.ts";
import { guarded, whoami } from "./guarded.ts";

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

test("of two Authorization headers, or hosts, none counts, whichever comes first", async () => {
  const verify = (token: string) => {
    if (token !== "good") throw new RefusedTokenError("it is another");
    return { issuer: "idp", subject: "ann" };
  };
  const serving = await guarded(whoami(), { verify });
  open.push(serving);
  const good = "Authorization: Bearer good";
  const host = `Host: 127.0.0.1:${serving.port}`;
  expect(await statusOf(serving.port, [host, good])).toBe(400);
  expect(await statusOf(serving.port, [host, good, "Authorization: Bearer other"])).toBe(401);
  expect(await statusOf(serving.port, [host, "Authorization: Bearer other", good])).toBe(401);
  expect(await statusOf(serving.port, [host, "Host: evil.example", good])).toBe(403);
});

/** Of a DELETE with just these headers: 400 where it is let in, for it names no session. */
async function statusOf(port: number, headers: string[]): Promise<number> {
  const socket = connect(port, "127.0.0.1");
  socket.write(`${["DELETE /mcp HTTP/1.1", "Connection: close", ...headers].join("\r\n")}\r\n\r\n`);
  let said = "";
  for await (const piece of socket) said += piece;
  return Number(said.split(" ")[1]);
}
