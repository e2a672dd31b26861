/** Where an IP address leads: to anybody, into this network, to this machine, or where nobody is to be sent. */

import { BlockList, isIPv4 } from "node:net";

/** `forbidden` is what no server has: link-local (cloud metadata), multicast, reserved. */
export type Place = "public" | "private" | "loopback" | "forbidden";

const LOOPBACK = listOf("127.0.0.0/8", "::1/128");
const PRIVATE = listOf(
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "fc00::/7",
  "fec0::/10",
);
const FORBIDDEN = listOf(
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2001:db8::/32",
  "fe80::/10",
  "ff00::/8",
);

/** Addresses that hold one of IPv4, which is where they lead: by their first groups, and where it begins. */
const EMBEDDING: readonly (readonly [prefix: string, at: number])[] = [
  ["0:0:0:0:0:ffff:", 6],
  ["64:ff9b:0:0:0:0:", 6],
  ["2002:", 1],
];

/** @param address as a resolver or a socket gives it, without brackets */
export function placeOf(address: string): Place {
  if (isIPv4(address)) return placeIn(address, "ipv4");
  const groups = groupsOf(address);
  const text = `${groups.map((group) => group.toString(16)).join(":")}:`;
  const embedded = EMBEDDING.find(([prefix]) => text.startsWith(prefix));
  if (embedded === undefined) return placeIn(address, "ipv6");
  const [high = 0, low = 0] = groups.slice(embedded[1]);
  return placeIn([high >> 8, high & 255, low >> 8, low & 255].join("."), "ipv4");
}

function placeIn(address: string, family: "ipv4" | "ipv6"): Place {
  if (LOOPBACK.check(address, family)) return "loopback";
  if (FORBIDDEN.check(address, family)) return "forbidden";
  return PRIVATE.check(address, family) ? "private" : "public";
}

/** The eight groups of an IPv6 address; the URL parser knows each way to write one. */
function groupsOf(address: string): number[] {
  const withoutZone = address.replace(/%.*$/, "");
  const [head = "", tail] = new URL(`http://[${withoutZone}]/`).hostname.slice(1, -1).split("::");
  const before = numbers(head);
  if (tail === undefined) return before;
  const after = numbers(tail);
  return [...before, ...new Array(8 - before.length - after.length).fill(0), ...after];
}

function numbers(groups: string): number[] {
  return groups === "" ? [] : groups.split(":").map((group) => Number.parseInt(group, 16));
}

function listOf(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", prefix] = subnet.split("/");
    list.addSubnet(network, Number(prefix), isIPv4(network) ? "ipv4" : "ipv6");
  }
  return list;
}
