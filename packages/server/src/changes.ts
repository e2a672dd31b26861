/** What changes in a server while it runs, told to whoever listens: connections, streams, other instances. */

import type { Instances } from "./sessions/instances.ts";

/** A list has other entries than before, or a resource other contents. */
export type Change =
  | { readonly kind: "tools" | "resources" | "prompts" }
  /** What changed was missed: it may have been anything. */
  | { readonly kind: "anything" }
  | { readonly kind: "resource"; readonly uri: string }
  /** A user is done with a page that one legacy client sent them to. */
  | { readonly kind: "visit"; readonly elicitationId: string };

/** A change that is known. */
export type KnownChange = Exclude<Change, { kind: "anything" }>;

const LISTS = ["tools", "resources", "prompts"] as const;

/** What may have changed for somebody who watches these resources. */
export function* possibleChanges(change: Change, watched: Iterable<string>): Iterable<KnownChange> {
  if (change.kind !== "anything") return yield change;
  for (const kind of LISTS) yield { kind };
  for (const uri of watched) yield { kind: "resource", uri };
}

/** The notification that tells a client of a change. */
export function notificationOf(change: KnownChange): { method: string; params: object } {
  switch (change.kind) {
    case "resource":
      return { method: "notifications/resources/updated", params: { uri: change.uri } };
    case "visit":
      return {
        method: "notifications/elicitation/complete",
        params: { elicitationId: change.elicitationId },
      };
    default:
      return { method: `notifications/${change.kind}/list_changed`, params: {} };
  }
}

const ANYTHING: Change[] = [{ kind: "anything" }];

/** Changes of one server. Those of one turn are told once each, after it. */
export class Changes {
  readonly #listeners = new Set<(change: Change) => void>();
  /** Who tells them to other instances of the server. */
  readonly #shared = new Set<Instances>();
  readonly #told = new Map<string, Change>();
  /** Those that could not be told of something, until they are. */
  readonly #behind = new Set<Instances>();

  /** @returns ends the subscription */
  subscribe(listener: (change: Change) => void): () => void {
    // A function of our own, so that the same listener may subscribe twice.
    const own = (change: Change) => listener(change);
    void this.expectListener();
    this.#listeners.add(own);
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) void this.#want(false);
    };
  }

  /** Somebody is about to listen: when this resolves other instances know, and what changes there is told here. */
  expectListener(): Promise<void> | undefined {
    return this.#shared.size === 0 || this.#listeners.size > 0 ? undefined : this.#want(true);
  }

  async #want(wanted: boolean): Promise<void> {
    await Promise.all([...this.#shared].map((instances) => instances.wantChanges(wanted)));
  }

  /** From now on listeners on other instances are told too, and listeners here of what changes there. */
  share(instances: Instances): void {
    if (this.#shared.has(instances)) return;
    this.#shared.add(instances);
    instances.listen((message) => {
      if (message.kind === "changes") this.#tellHere(message.changes);
      return undefined;
    });
    // What changed elsewhere meanwhile was not heard; and what changed here may not have been.
    instances.onBack(() => {
      this.#tellHere(ANYTHING);
      if (this.#behind.delete(instances)) this.#tellAll(instances, ANYTHING);
    });
    if (this.#listeners.size > 0) void instances.wantChanges(true);
  }

  publish(change: Change): void {
    if (this.#listeners.size === 0 && this.#wanting().length === 0) return;
    if (this.#told.size === 0) queueMicrotask(() => this.#tell());
    this.#told.set(Object.values(change).join(" "), change);
  }

  #tell(): void {
    const changes = [...this.#told.values()];
    this.#told.clear();
    this.#tellHere(changes);
    for (const instances of this.#wanting()) this.#tellAll(instances, changes);
  }

  #tellAll(instances: Instances, changes: Change[]): void {
    instances.tellAll({ kind: "changes", changes }).catch(() => this.#behind.add(instances));
  }

  #wanting(): Instances[] {
    return [...this.#shared].filter(({ changesWanted }) => changesWanted);
  }

  #tellHere(changes: Change[]): void {
    for (const change of changes) for (const listener of this.#listeners) listener(change);
  }
}
