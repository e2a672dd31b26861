/** Where addresses lead: each range, its edges, and each way to write one. */

import { describe, expect, test } from "vitest";
import { isTranslated, placeOf } from "../src/addresses.ts";

test.each([
  ["8.8.8.8", "public"],
  ["2606:4700:4700::1111", "public"],
  ["[2606:4700:4700::1111]", "public"],
  ["::ffff:8.8.8.8", "public"],
  ["64:ff9b::808:808", "public"],
  ["2002:808:808::", "public"],
  ["127.0.0.0", "loopback"],
  ["127.9.9.9", "loopback"],
  ["127.255.255.255", "loopback"],
  ["::1", "loopback"],
  ["[::1]", "loopback"],
  ["0:0:0:0:0:0:0:1", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::FFFF:7F00:1", "loopback"],
  ["64:ff9b::7f00:1", "loopback"],
  ["2002:7f00:1::", "loopback"],
  ["10.1.2.3", "private"],
  ["172.16.0.0", "private"],
  ["172.31.255.255", "private"],
  ["192.168.0.1", "private"],
  ["100.64.0.0", "private"],
  ["100.127.255.255", "private"],
  ["fc00::1", "private"],
  ["fdff::", "private"],
  ["fec0::1", "private"],
  ["feff::1", "private"],
  ["64:ff9b::a00:1", "private"],
  ["2002:a00:1::", "private"],
  ["0.0.0.0", "forbidden"],
  ["169.254.169.254", "forbidden"],
  ["::ffff:169.254.169.254", "forbidden"],
  ["192.0.2.1", "forbidden"],
  ["198.19.255.255", "forbidden"],
  ["224.0.0.1", "forbidden"],
  ["240.0.0.1", "forbidden"],
  ["255.255.255.255", "forbidden"],
  ["fe80::1%eth0", "forbidden"],
  ["febf::", "forbidden"],
  ["ff02::1", "forbidden"],
  ["::", "forbidden"],
  ["::a00:1", "forbidden"],
  ["64:ff9b:1::", "forbidden"],
  ["2001:0:1::", "forbidden"],
  ["2001:db8::1", "forbidden"],
])("%s is %s", (address, place) => {
  expect(placeOf(address)).toBe(place);
});

test.each([
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "fbff::",
  "2001:1::",
])("%s, beside a range, is public", (address) => {
  expect(placeOf(address)).toBe("public");
});

describe("an address that a gateway translates", () => {
  test.each(["64:ff9b::808:808", "[64:ff9b::8.8.8.8]", "2002:808:808::1"])("%s", (address) => {
    expect(isTranslated(address)).toBe(true);
  });
  test.each(["8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1", "64:ff9b:1::1"])("not %s", (address) => {
    expect(isTranslated(address)).toBe(false);
  });
});
