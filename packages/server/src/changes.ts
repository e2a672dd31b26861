/** What changes in a server while it runs, told to whoever listens: connections, streams, other instances. */

/** A list has other entries than before, or a resource other contents. */
export type Change =
  | { readonly kind: "tools" | "resources" | "prompts" }
  | { readonly kind: "resource"; readonly uri: string };

/** The notification that tells a client of a change. */
export function notificationOf(change: Change): { method: string; params: { uri?: string } } {
  return change.kind === "resource"
    ? { method: "notifications/resources/updated", params: { uri: change.uri } }
    : { method: `notifications/${change.kind}/list_changed`, params: {} };
}

/** Changes of one server. Those of one turn are told once each, after it. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #told = new Map<string, Change>();

  /** @returns ends the subscription */
  subscribe(listener: (change: Change) => void): () => void {
    // A function of our own, so that the same listener may subscribe twice.
    const own = (change: Change) => listener(change);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  publish(change: Change): void {
    if (this.#listeners.size === 0) return;
    if (this.#told.size === 0) queueMicrotask(() => this.#tell());
    this.#told.set(change.kind === "resource" ? `resource ${change.uri}` : change.kind, change);
  }

  #tell(): void {
    const changes = [...this.#told.values()];
    this.#told.clear();
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}
