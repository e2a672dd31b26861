/** The prompts and resources that the servers have, asked for when they are wanted, and kept for a while. */

import type { Client } from "@patchbay/client";
import type { CompleteParams, Prompt, Resource, ResourceTemplate } from "@patchbay/core";
import { visibleLine } from "../visible.ts";

/** Milliseconds that a list is kept: Tab is pressed often. */
const FRESH = 30_000;
/** Milliseconds that somebody who pressed Tab is made to wait. */
const PATIENCE = 3_000;

export class Offers {
  readonly #clients: ReadonlyMap<string, Client>;
  readonly #kept = new Map<string, { at: number; list: Promise<unknown> }>();

  constructor(clients: ReadonlyMap<string, Client>) {
    this.#clients = clients;
  }

  get servers(): string[] {
    return [...this.#clients.keys()];
  }

  /** None where the server fails: `signal` alone makes it reject. */
  prompts(server: string, signal?: AbortSignal): Promise<Prompt[]> {
    return this.#list(server, "prompts", signal, (client, options) => client.listPrompts(options));
  }

  resources(server: string, signal?: AbortSignal): Promise<Resource[]> {
    return this.#list(server, "resources", signal, (client, options) => client.listResources(options));
  }

  templates(server: string, signal?: AbortSignal): Promise<ResourceTemplate[]> {
    return this.#list(server, "templates", signal, (client, options) =>
      client.listResourceTemplates(options),
    );
  }

  /** Values for an argument; none where the server has none, or takes too long. */
  async values(server: string, params: CompleteParams): Promise<string[]> {
    const client = this.#clients.get(server);
    if (client === undefined) return [];
    // There was no capability for it at first.
    if (client.capabilities.completions === undefined && client.revision !== "2024-11-05") return [];
    try {
      const { completion } = await client.complete(params, { signal: AbortSignal.timeout(PATIENCE) });
      return completion.values;
    } catch {
      return [];
    }
  }

  async #list<T>(
    server: string,
    what: string,
    signal: AbortSignal | undefined,
    ask: (client: Client, options: { signal: AbortSignal }) => Promise<T[]>,
  ): Promise<T[]> {
    const client = this.#clients.get(server);
    if (client === undefined) return [];
    const key = JSON.stringify([what, server]);
    const kept = this.#kept.get(key);
    if (kept !== undefined && performance.now() - kept.at < FRESH) return kept.list as Promise<T[]>;
    const asked = ask(client, { signal: signal ?? AbortSignal.timeout(PATIENCE) });
    const list = asked.catch(() => {
      this.#kept.delete(key);
      signal?.throwIfAborted();
      return [];
    });
    this.#kept.set(key, { at: performance.now(), list });
    return list;
  }
}

/** What can be typed as it is, and shows what it is: a server chose these. */
export function clean(values: readonly string[]): string[] {
  return values.filter((value) => value !== "" && visibleLine(value) === value);
}
