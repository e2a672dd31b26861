/** The tools that the model is offered now: those of all servers that may be, kept up to date while a turn runs. */

import type { StructuredToolInterface } from "@langchain/core/tools";
import type { Client, Subscription } from "@patchbay/client";
import type { JsonSchema, Tool } from "@patchbay/core";
import type { Consent } from "./consent/consent.ts";
import { hashOf } from "./consent/pins.ts";
import type { ServerUnavailableEvent, ToolSetAsideEvent, ToolsChangedEvent } from "./events.ts";
import { type Catalog, discover, type OfferedTool } from "./tools/catalog.ts";

type Events = ServerUnavailableEvent | ToolSetAsideEvent | ToolsChangedEvent;

/** A tool of a server, or of the host. */
export interface Callable {
  about: { tool: Tool; server?: string; schema: JsonSchema };
  run: StructuredToolInterface;
}

/** What the loop works with, for as long as the tools stay the same. */
export interface Offer {
  catalog: Catalog;
  /** By the name that the model knows. */
  byName: ReadonlyMap<string, Callable>;
}

/** Makes the tools of a catalog callable, by their names, and the host's own with them. */
type ToCallables = (catalog: Catalog) => ReadonlyMap<string, Callable>;

export interface ToolboxOptions {
  clients: ReadonlyMap<string, Client>;
  format: Catalog["format"];
  consent: Consent;
  toCallables: () => Promise<ToCallables>;
}

export class Toolbox {
  readonly #options: ToolboxOptions;
  readonly #listening = new Map<Client, Promise<Subscription | undefined>>();
  #offer: Offer | undefined;
  /** Counts what makes the offer old. */
  #changes = 0;
  #known = -1;

  constructor(options: ToolboxOptions) {
    this.#options = options;
  }

  /** A server came, went, or has told that its tools changed. */
  outdate(): void {
    this.#changes++;
  }

  /** What was offered last. */
  get offer(): Offer | undefined {
    return this.#offer;
  }

  /** What there is now, as it is said at the beginning of a turn. */
  async begin(signal: AbortSignal, onEvent: (event: Events) => void): Promise<Offer> {
    this.#listen();
    this.outdate();
    return this.current(signal, onEvent, true);
  }

  /** What there is now; asked for again only where something changed. */
  async current(signal: AbortSignal, onEvent: (event: Events) => void, isNewTurn = false): Promise<Offer> {
    while (this.#offer === undefined || this.#known !== this.#changes) {
      const changes = this.#changes;
      const before = this.#offer;
      const [found, toCallables] = await Promise.all([this.#discover(signal), this.#options.toCallables()]);
      const catalog = await this.#reviewed(found, signal);
      this.#known = changes;
      if (before === undefined || !sameTools(before.catalog, catalog))
        this.#offer = { catalog, byName: toCallables(catalog) };
      else before.catalog = catalog;
      if (isNewTurn) {
        for (const each of catalog.unavailable) onEvent({ type: "server_unavailable", ...each });
        for (const each of catalog.setAside) onEvent({ type: "tool_set_aside", ...each });
      } else if (before !== undefined && before !== this.#offer) {
        onEvent({ type: "tools_changed", ...difference(before.catalog, catalog) });
      }
    }
    return this.#offer;
  }

  /** Stops listening to a server that is no longer used. */
  drop(client: Client): void {
    void this.#listening
      .get(client)
      ?.then((subscription) => subscription?.close())
      .catch(() => {});
    this.#listening.delete(client);
    this.outdate();
  }

  #discover(signal: AbortSignal): Promise<Catalog> {
    const { clients, format } = this.#options;
    return discover(clients, format, signal);
  }

  /** Without the tools that changed since they were approved, where that is not approved too. */
  async #reviewed(catalog: Catalog, signal: AbortSignal): Promise<Catalog> {
    const { clients, consent } = this.#options;
    const allowed = new Map<string, Set<string>>();
    const silent = new Set(catalog.unavailable.map(({ server }) => server));
    for (const server of clients.keys()) {
      if (silent.has(server)) continue;
      const own = catalog.tools.filter((tool) => tool.server === server).map(({ tool }) => tool);
      allowed.set(server, await consent.review(server, own, signal));
    }
    const isAllowed = ({ server, tool }: OfferedTool) => allowed.get(server)?.has(tool.name) === true;
    const blocked = catalog.tools
      .filter((tool) => !isAllowed(tool))
      .map(({ server, tool }) => ({ server, tool: tool.name, reason: "it is not what was approved" }));
    return {
      format: catalog.format,
      tools: catalog.tools.filter(isAllowed),
      setAside: [...catalog.setAside, ...blocked],
      unavailable: catalog.unavailable,
    };
  }

  #listen(): void {
    for (const client of this.#options.clients.values()) {
      if (this.#listening.has(client) || client.capabilities.tools?.listChanged !== true) continue;
      // A server that does not take the subscription is asked for its tools with each turn all the same.
      const subscribing = client
        .listen({ toolsListChanged: true }, () => this.outdate())
        .catch(() => undefined);
      this.#listening.set(client, subscribing);
    }
  }
}

function sameTools(before: Catalog, now: Catalog): boolean {
  return (
    before.tools.length === now.tools.length &&
    before.tools.every(({ tool, name, client }, index) => {
      const other = now.tools[index];
      return other?.name === name && other.client === client && hashOf(other.tool) === hashOf(tool);
    })
  );
}

function difference(before: Catalog, now: Catalog): Pick<ToolsChangedEvent, "added" | "removed"> {
  const missing = (from: Catalog, other: Catalog) =>
    from.tools
      .filter(
        ({ server, tool }) =>
          !other.tools.some((each) => each.server === server && hashOf(each.tool) === hashOf(tool)),
      )
      .map(({ server, tool }) => ({ server, tool: tool.name }));
  return { added: missing(now, before), removed: missing(before, now) };
}
