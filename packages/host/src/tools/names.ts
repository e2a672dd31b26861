/** Tool names: what MCP allows, as what a provider takes, one to one. */

import { createHash } from "node:crypto";
import type { NameRules } from "./formats.ts";

/** What every provider takes. */
const STRICTEST: NameRules = { maxLength: 64, anyStart: false };
const HASH_LENGTH = 8;

export interface NamingOptions {
  /** All servers that are configured, those without tools too. Default: those of the tools. */
  servers?: Iterable<string>;
  /** Default: what every provider takes. */
  rules?: NameRules;
  /** Names that are somebody else's already: who has one of them is prefixed. */
  reserved?: ReadonlySet<string>;
}

export interface ToolAddress {
  /** As the configuration names the server. */
  server: string;
  /** The tool's MCP name. */
  tool: string;
}

/**
 * Gives each tool a name of its own for the provider, in the order given.
 *
 * A name that one server alone has stays as it is. One that several servers have is prefixed by the server's
 * configured name (`files__search`) at each of them, and so is one that begins as another server's prefix does:
 * no server can take another's place. Characters outside of `[a-zA-Z0-9_-]` become `_`. Where that makes two names
 * the same, or a name is too long, the changed one ends in a hash of server and tool: it does not depend on what
 * else is connected, nor on the order.
 */
export function providerNames(tools: readonly ToolAddress[], options: NamingOptions = {}): string[] {
  const { servers = tools.map(({ server }) => server), rules = STRICTEST, reserved = new Set() } = options;
  const mapped = (name: string) => mapName(name, rules);
  const hashed = (name: string, address: ToolAddress) => hashName(name, address, rules);
  const prefixes = new Map(Array.from(servers, (server) => [server, mapped(`${server}__`)]));
  const serversOf = new Map<string, Set<string>>();
  for (const { server, tool } of tools) {
    const name = mapped(tool);
    serversOf.set(name, (serversOf.get(name) ?? new Set()).add(server));
  }
  const wanted = tools.map(({ server, tool }) => {
    const name = mapped(tool);
    const shared = (serversOf.get(name)?.size ?? 0) > 1;
    const posing = Array.from(prefixes).some(
      ([other, prefix]) => other !== server && name.startsWith(prefix),
    );
    return shared || posing || reserved.has(name) ? mapped(`${server}__${tool}`) : name;
  });
  const times = count(wanted);
  const names = tools.map((address, index) => {
    const name = wanted[index] as string;
    const changed = name !== address.tool;
    const unclear = changed && ((times.get(name) ?? 0) > 1 || !/[a-zA-Z0-9]/.test(name));
    return unclear || name.length > rules.maxLength ? hashed(name, address) : name;
  });
  // Who foresees another's hash and takes it for a name gets a hash of its own behind it.
  const last = count(names);
  return tools.map((address, index) => {
    const name = names[index] as string;
    const own = hashed(wanted[index] as string, address);
    return (last.get(name) ?? 0) > 1 && name !== own ? hashed(name, address) : name;
  });
}

function mapName(name: string, { anyStart }: NameRules): string {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_");
  return anyStart || /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}

function count(names: readonly string[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return times;
}

function hashName(name: string, address: ToolAddress, { maxLength }: NameRules): string {
  return `${name.slice(0, maxLength - HASH_LENGTH - 1)}_${hash(address)}`;
}

function hash({ server, tool }: ToolAddress): string {
  return createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, HASH_LENGTH);
}
