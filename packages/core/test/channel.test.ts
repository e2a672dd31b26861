/** Two ends in memory behave as a wire does: in order, later, and closed once. */

import { expect, test } from "vitest";
import { type Channel, channelPair } from "../src/channel.ts";

/** Listens, and writes down what comes. */
function record(channel: Channel): string[] {
  const seen: string[] = [];
  channel.listen(
    (text) => seen.push(text),
    (cause) => seen.push(cause === undefined ? "closed" : `closed: ${cause.message}`),
  );
  return seen;
}

test("delivers in order, both ways, after the turn that sent", async () => {
  const [left, right] = channelPair();
  const atLeft = record(left);
  const atRight = record(right);
  left.send("1");
  left.send("2");
  right.send("a");
  expect([atLeft, atRight]).toEqual([[], []]);
  await Promise.resolve();
  expect(atRight).toEqual(["1", "2"]);
  expect(atLeft).toEqual(["a"]);
});

test("keeps what came before anybody listened", async () => {
  const [left, right] = channelPair();
  left.send("1");
  left.send("2");
  await Promise.resolve();
  const seen = record(right);
  left.send("3");
  await Promise.resolve();
  expect(seen).toEqual(["1", "2", "3"]);
});

test("an answer sent while listening begins comes after what was kept", async () => {
  const [left, right] = channelPair();
  const atLeft = record(left);
  left.send("1");
  left.send("2");
  await Promise.resolve();
  right.listen(
    (text) => right.send(`re ${text}`),
    () => {},
  );
  await Promise.resolve();
  expect(atLeft).toEqual(["re 1", "re 2"]);
});

test("closing ends both sides, once, after what was sent", async () => {
  const [left, right] = channelPair();
  const atLeft = record(left);
  const atRight = record(right);
  left.send("last");
  await left.close();
  await left.close();
  await right.close();
  expect(atLeft).toEqual(["closed"]);
  expect(atRight).toEqual(["last", "closed"]);
});

test("nothing is sent or received after closing", async () => {
  const [left, right] = channelPair();
  const atLeft = record(left);
  const atRight = record(right);
  right.send("too late");
  const closing = left.close();
  left.send("never");
  await closing;
  right.send("never");
  await Promise.resolve();
  expect(atLeft).toEqual(["closed"]);
  expect(atRight).toEqual(["closed"]);
});

test("who listens to a channel that was closed is told so, after what came", async () => {
  const [left, right] = channelPair();
  left.send("1");
  await left.close();
  expect(record(right)).toEqual(["1", "closed"]);
  expect(record(left)).toEqual(["closed"]);
});
