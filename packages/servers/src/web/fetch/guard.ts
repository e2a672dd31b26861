/** Where web_fetch may go: to the public web, and to hosts that the operator named. */

import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isTranslated, placeOf } from "@patchbay/core/addresses";

/** Ports below 1024 belong to services; these two to the web. */
const WEB_PORTS = new Set([80, 443]);

export class Guard {
  readonly #privateHosts: ReadonlySet<string>;

  /** @param privateHosts `host` or `host:port` that may be on this machine or in its network */
  constructor(privateHosts: readonly string[]) {
    this.#privateHosts = new Set(privateHosts.map((host) => host.toLowerCase()));
  }

  /**
   * What can be told of a URL before anything is asked: its scheme, its port, its address where it names one.
   *
   * @throws Error that says why web_fetch does not go there
   */
  check(url: URL): void {
    const { protocol, hostname, username, password } = url;
    if (protocol !== "http:" && protocol !== "https:")
      throw new Error(`${protocol.slice(0, 20)} is not fetched: a URL begins with http:// or https://`);
    if (username !== "" || password !== "")
      throw new Error("a URL with a user or a password in it is not fetched");
    const port = portOf(url);
    if (port < 1024 && !WEB_PORTS.has(port) && !this.#isNamed(hostname, port))
      throw new Error(`port ${port} is no port of the web`);
    if (isIP(bare(hostname)) !== 0) this.#checkAddress(hostname, port, hostname);
  }

  /**
   * The addresses of a host, each of them checked: whoever connects, connects to one of these.
   *
   * @throws Error when one of them is not on the public web, or there is none
   */
  async resolve(hostname: string, port: number): Promise<LookupAddress[]> {
    const literal = bare(hostname);
    const family = isIP(literal);
    const found =
      family === 0 ? await lookup(hostname, { all: true, verbatim: true }) : [{ address: literal, family }];
    // A resolver may offer a gateway's addresses (NAT64) beside those of the host itself.
    const direct = found.filter(({ address }) => !isTranslated(address));
    for (const { address } of direct.length > 0 ? direct : found) this.#checkAddress(hostname, port, address);
    return direct;
  }

  #checkAddress(hostname: string, port: number, address: string): void {
    const place = isTranslated(address) ? "forbidden" : placeOf(address);
    if (place === "public" || (place !== "forbidden" && this.#isNamed(hostname, port))) return;
    throw new Error(
      place === "forbidden"
        ? `${hostname} is at an address that no website has`
        : `${hostname} is not on the public web; the operator of this server can allow it (--private-host, WEB_FETCH_PRIVATE_HOSTS)`,
    );
  }

  #isNamed(hostname: string, port: number): boolean {
    return this.#privateHosts.has(hostname) || this.#privateHosts.has(`${hostname}:${port}`);
  }
}

/** The port that a URL leads to. */
export function portOf({ protocol, port }: Pick<URL, "protocol" | "port">): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
