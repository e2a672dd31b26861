/** Changes as a legacy server tells of them: of lists unasked, of resources by `resources/subscribe` (server/resources). */

import { ErrorCode, type JsonObject, ProtocolError, type ServerCapabilities } from "@patchbay/core";
import type { Conversation } from "../conversation.ts";
import { tell } from "../tell.ts";
import { type Change, type ChangeFilter, common, type Subscription, wants } from "./changes.ts";

interface Listener {
  honored: ChangeFilter;
  onChange: (change: Change) => void;
}

/** All subscriptions of one legacy session. */
export class LegacySubscriptions {
  readonly #conversation: Conversation;
  readonly #capabilities: ServerCapabilities;
  readonly #listeners = new Set<Listener>();
  /** How many subscriptions each resource is watched by: the server keeps one for all of them. */
  readonly #watched = new Map<string, number>();
  /** Resources that the server is being asked to watch: what waits for a new session is sent in it anyway. */
  readonly #asked = new Set<string>();

  constructor(conversation: Conversation, capabilities: ServerCapabilities) {
    this.#conversation = conversation;
    this.#capabilities = capabilities;
  }

  async listen(filter: ChangeFilter, onChange: (change: Change) => void): Promise<Subscription> {
    const honored = common(filter, this.#offer(filter));
    const listener: Listener = { honored, onChange };
    this.#listeners.add(listener);
    const uris = [...new Set(honored.resourceSubscriptions)];
    const close = async () => {
      if (!this.#listeners.delete(listener)) return;
      await Promise.all(uris.filter((uri) => this.#watched.has(uri)).map((uri) => this.#unwatch(uri)));
    };
    try {
      await Promise.all(uris.map((uri) => this.#watch(uri)));
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MethodNotFound) {
        await close();
        throw error;
      }
      // It says that it can, and cannot.
      for (const uri of uris) this.#watched.delete(uri);
      delete honored.resourceSubscriptions;
    }
    return { honored, close };
  }

  /** All that somebody listens to. */
  get honored(): ChangeFilter {
    const filters = [...this.#listeners].map(({ honored }) => honored);
    const any = (list: "toolsListChanged" | "promptsListChanged" | "resourcesListChanged") =>
      filters.some((filter) => filter[list] === true);
    return {
      toolsListChanged: any("toolsListChanged"),
      promptsListChanged: any("promptsListChanged"),
      resourcesListChanged: any("resourcesListChanged"),
      resourceSubscriptions: [...this.#watched.keys()],
    };
  }

  hear(change: Change): void {
    for (const { honored, onChange } of this.#listeners) if (wants(honored, change)) tell(onChange, change);
  }

  /** A new session knows nothing of what the old one watched. */
  restore(): void {
    for (const uri of this.#watched.keys()) {
      if (this.#asked.has(uri)) continue;
      this.#ask("resources/subscribe", uri).catch((error: Error) =>
        tell(this.#conversation.settings.onWarning, error),
      );
    }
  }

  #offer(filter: ChangeFilter): ChangeFilter {
    const { tools, prompts, resources } = this.#capabilities;
    const uris = filter.resourceSubscriptions;
    return {
      toolsListChanged: tools?.listChanged === true,
      promptsListChanged: prompts?.listChanged === true,
      resourcesListChanged: resources?.listChanged === true,
      ...(resources?.subscribe === true && uris !== undefined && { resourceSubscriptions: uris }),
    };
  }

  async #watch(uri: string): Promise<void> {
    const count = this.#watched.get(uri) ?? 0;
    this.#watched.set(uri, count + 1);
    if (count > 0) return;
    this.#asked.add(uri);
    await this.#ask("resources/subscribe", uri).finally(() => this.#asked.delete(uri));
  }

  async #unwatch(uri: string): Promise<void> {
    const count = (this.#watched.get(uri) ?? 0) - 1;
    if (count > 0) {
      this.#watched.set(uri, count);
      return;
    }
    this.#watched.delete(uri);
    await this.#ask("resources/unsubscribe", uri).catch(() => {
      // What is told of it from now on reaches nobody.
    });
  }

  #ask(method: string, uri: string): Promise<JsonObject> {
    return this.#conversation.request({ method, members: `"uri":${JSON.stringify(uri)}` });
  }
}
