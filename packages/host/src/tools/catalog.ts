/** The tools of all connected servers, as one model is offered them. */

import type { Client } from "@patchbay/client";
import type { JsonSchema, Tool } from "@patchbay/core";
import { FORMATS, type ToolFormat } from "./formats.ts";
import { providerNames, type ToolAddress } from "./names.ts";
import { OWN_NAMES } from "./own-names.ts";
import { lowerSchema } from "./schema/lower.ts";

/** One tool that the model may call. */
export interface OfferedTool {
  /** What the model calls it: unique among all servers. */
  name: string;
  /** As the configuration names the server. */
  server: string;
  client: Client;
  /** As the server describes it, its own name and schema included. */
  tool: Tool;
  /** The copy of the input schema that the provider is sent. */
  schema: JsonSchema;
  /** What that copy no longer says. */
  lost: string[];
}

/** A tool that is not offered. */
export interface SetAside extends ToolAddress {
  reason: string;
}

/** A server whose tools could not be listed. */
export interface Unavailable {
  server: string;
  reason: string;
}

export interface Catalog {
  /** Whom the tools are written for; `none` for who reads them as the servers describe them. */
  format: ToolFormat | "none";
  tools: OfferedTool[];
  setAside: SetAside[];
  unavailable: Unavailable[];
}

/** Asks every server for its tools, side by side. A server that fails is left out and named. */
export async function discover(
  clients: ReadonlyMap<string, Client>,
  format: ToolFormat | "none",
  signal?: AbortSignal,
): Promise<Catalog> {
  const unavailable: Unavailable[] = [];
  const listings = await Promise.all(
    Array.from(clients, async ([server, client]) => {
      try {
        const tools = await client.listTools(signal === undefined ? {} : { signal });
        return tools.map((tool) => ({ server, client, tool }));
      } catch (error) {
        signal?.throwIfAborted();
        unavailable.push({ server, reason: error instanceof Error ? error.message : "it gave no tools" });
        return [];
      }
    }),
  );
  return { ...(await offer(listings.flat(), format, clients.keys())), unavailable };
}

/** A tool, and where it was found. */
export type FoundTool = Pick<OfferedTool, "server" | "client" | "tool">;

/** Writes tools for a format: each with a name of its own and a lowered schema, or set aside with the reason. */
export async function offer(
  found: readonly FoundTool[],
  format: ToolFormat | "none",
  servers?: Iterable<string>,
): Promise<Omit<Catalog, "unavailable">> {
  const names = providerNames(
    found.map(({ server, tool }) => ({ server, tool: tool.name })),
    {
      ...(servers === undefined ? {} : { servers }),
      ...(format === "none" ? {} : { rules: FORMATS[format].name, reserved: OWN_NAMES }),
    },
  );
  const taken = new Set<string>();
  const tools: OfferedTool[] = [];
  const setAside: SetAside[] = [];
  for (const [index, each] of found.entries()) {
    const name = names[index] as string;
    const address = { server: each.server, tool: each.tool.name };
    const lowered = await lowerSchema(each.tool.inputSchema, format);
    if (taken.has(name)) setAside.push({ ...address, reason: "another tool has its name already" });
    else if ("reason" in lowered) setAside.push({ ...address, reason: lowered.reason });
    else {
      taken.add(name);
      tools.push({ ...each, ...lowered, name });
    }
  }
  return { format, tools, setAside };
}
