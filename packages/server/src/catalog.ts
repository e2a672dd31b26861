/** What a server offers. It knows nothing of who asks. */

import type { ServerCapabilities } from "@patchbay/core";
import type { Changes } from "./changes.ts";
import type { PromptEntry } from "./features/prompts.ts";
import type { ResourceEntry, ResourceTemplateEntry } from "./features/resources.ts";
import type { ToolEntry } from "./features/tools.ts";
import { Listing } from "./listing.ts";

/** The kinds of things that can be offered, each with a capability of its own. */
export type Offer = "tools" | "resources" | "prompts";

export class Catalog {
  readonly tools: Listing<ToolEntry>;
  readonly resources: Listing<ResourceEntry>;
  readonly resourceTemplates: Listing<ResourceTemplateEntry>;
  readonly prompts: Listing<PromptEntry>;
  /** What is offered at all, and whether anything can be completed; kept, because each request asks. */
  readonly #offers: Set<Offer>;
  #completions = false;

  /** @param offers what is offered even while there is none of it */
  constructor(pageSize: number, offers: readonly Offer[], changes: Changes) {
    this.#offers = new Set(offers);
    const changed = (kind: Offer) => () => {
      this.#review(kind);
      changes.publish({ kind });
    };
    this.tools = new Listing("tools", pageSize, changed("tools"));
    this.resources = new Listing("resources", pageSize, changed("resources"));
    this.resourceTemplates = new Listing("resourceTemplates", pageSize, changed("resources"));
    this.prompts = new Listing("prompts", pageSize, changed("prompts"));
  }

  offers(offer: Offer | "completions"): boolean {
    return offer === "completions" ? this.#completions : this.#offers.has(offer);
  }

  /** A capability is declared when there is, was, or may come something behind it. */
  capabilities(): ServerCapabilities {
    return {
      logging: {},
      ...(this.offers("tools") && { tools: { listChanged: true } }),
      ...(this.offers("resources") && { resources: { subscribe: true, listChanged: true } }),
      ...(this.offers("prompts") && { prompts: { listChanged: true } }),
      ...(this.offers("completions") && { completions: {} }),
    };
  }

  /** What was offered once stays offered: a client may have been told so. */
  #review(kind: Offer): void {
    this.#offers.add(kind);
    const completing = [...this.prompts.values(), ...this.resourceTemplates.values()];
    this.#completions = completing.some((entry) => Object.keys(entry.complete).length > 0);
  }
}
