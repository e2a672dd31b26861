/** Where an IP address leads: to anybody, into this network, to this machine, or where nobody is to be sent. */

/** `forbidden` is what no server has: link-local (cloud metadata), multicast, reserved. */
export type Place = "public" | "private" | "loopback" | "forbidden";

interface Subnet {
  network: readonly number[];
  /** How many of its first bits count. */
  bits: number;
}

const PLACES: readonly (readonly [Place, readonly Subnet[]])[] = [
  ["loopback", subnets("127.0.0.0/8", "::1/128")],
  [
    "forbidden",
    subnets(
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
    ),
  ],
  [
    "private",
    subnets("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7", "fec0::/10"),
  ],
];

/** An address of IPv4 in the spelling of IPv6: what a socket of both families says. */
const MAPPED = subnet("::ffff:0:0/96");
/** Addresses that a gateway turns into the one of IPv4 that they hold, and at which byte: NAT64 and 6to4. */
const TRANSLATED: readonly (readonly [Subnet, at: number])[] = [
  [subnet("64:ff9b::/96"), 12],
  [subnet("2002::/16"), 2],
];

/**
 * An address that holds one of IPv4 leads where that leads.
 *
 * @param address as a resolver, a socket or a URL gives it; IPv6 with or without brackets
 */
export function placeOf(address: string): Place {
  const bytes = bytesOf(address);
  const translated = TRANSLATED.find(([prefix]) => isIn(bytes, prefix));
  const leads = translated === undefined ? bytes : bytes.slice(translated[1], translated[1] + 4);
  return PLACES.find(([, members]) => members.some((member) => isIn(leads, member)))?.[0] ?? "public";
}

/** Whether a gateway has to turn the address into one of IPv4 (NAT64, 6to4): where that stands is not said here. */
export function isTranslated(address: string): boolean {
  const bytes = bytesOf(address);
  return TRANSLATED.some(([prefix]) => isIn(bytes, prefix));
}

function isIn(bytes: readonly number[], { network, bits }: Subnet): boolean {
  if (bytes.length !== network.length) return false;
  const whole = bits >> 3;
  for (let index = 0; index < whole; index++) if (bytes[index] !== network[index]) return false;
  const rest = 8 - (bits & 7);
  return rest === 8 || (bytes[whole] as number) >> rest === (network[whole] as number) >> rest;
}

/** Four bytes or sixteen. */
function bytesOf(address: string): number[] {
  if (!address.includes(":")) return address.split(".").map(Number);
  const bytes = groupsOf(address).flatMap((group) => [group >> 8, group & 255]);
  return isIn(bytes, MAPPED) ? bytes.slice(12) : bytes;
}

/** The eight groups of an IPv6 address; the URL parser knows each way to write one. */
function groupsOf(address: string): number[] {
  const bare = address.replace(/^\[|\]$/g, "").replace(/%.*$/, "");
  const [head = "", tail] = new URL(`http://[${bare}]/`).hostname.slice(1, -1).split("::");
  const before = numbers(head);
  if (tail === undefined) return before;
  const after = numbers(tail);
  return [...before, ...new Array(8 - before.length - after.length).fill(0), ...after];
}

function numbers(groups: string): number[] {
  return groups === "" ? [] : groups.split(":").map((group) => Number.parseInt(group, 16));
}

function subnets(...texts: string[]): Subnet[] {
  return texts.map(subnet);
}

function subnet(text: string): Subnet {
  const [network = "", bits] = text.split("/");
  return {
    network: network.includes(":")
      ? groupsOf(network).flatMap((group) => [group >> 8, group & 255])
      : network.split(".").map(Number),
    bits: Number(bits),
  };
}
