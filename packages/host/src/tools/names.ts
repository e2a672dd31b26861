/** Tool names: what MCP allows, as what every provider takes (`[a-zA-Z0-9_-]`, at most 64), one to one. */

import { createHash } from "node:crypto";

/** The shortest limit there is: OpenAI's, DeepSeek's and Gemini's. */
export const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 8;

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
 * configured name (`files__search`) at each of them, so that no server can take another's place. Characters
 * outside the set become `_`. Where that makes two names the same, or a name is too long, the changed one ends
 * in a hash of server and tool: it does not depend on what else is connected, nor on the order.
 */
export function providerNames(tools: readonly ToolAddress[]): string[] {
  const serversOf = new Map<string, Set<string>>();
  for (const { server, tool } of tools) {
    const servers = serversOf.get(tool) ?? new Set();
    serversOf.set(tool, servers.add(server));
  }
  const wanted = tools.map(({ server, tool }) =>
    (serversOf.get(tool)?.size ?? 0) > 1 ? `${server}__${tool}` : tool,
  );
  const mapped = wanted.map((name) => name.replace(/[^a-zA-Z0-9_-]/g, "_"));
  const times = new Map<string, number>();
  for (const name of mapped) times.set(name, (times.get(name) ?? 0) + 1);
  return mapped.map((name, index) => {
    const changed = name !== tools[index]?.tool;
    const unclear = changed && ((times.get(name) ?? 0) > 1 || !/[a-zA-Z0-9]/.test(name));
    if (!unclear && name.length <= MAX_NAME_LENGTH) return name;
    return `${name.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1)}_${hash(tools[index] as ToolAddress)}`;
  });
}

function hash({ server, tool }: ToolAddress): string {
  return createHash("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, HASH_LENGTH);
}
