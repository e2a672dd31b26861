/** What a server offers. It knows nothing of who asks. */

import type { ServerCapabilities } from "@patchbay/core";
import type { PromptEntry } from "./features/prompts.ts";
import type { ResourceEntry, ResourceTemplateEntry } from "./features/resources.ts";
import type { ToolEntry } from "./features/tools.ts";
import { Listing } from "./listing.ts";

export class Catalog {
  readonly tools: Listing<ToolEntry>;
  readonly resources: Listing<ResourceEntry>;
  readonly resourceTemplates: Listing<ResourceTemplateEntry>;
  readonly prompts: Listing<PromptEntry>;

  constructor(pageSize: number) {
    this.tools = new Listing("tools", pageSize);
    this.resources = new Listing("resources", pageSize);
    this.resourceTemplates = new Listing("resourceTemplates", pageSize);
    this.prompts = new Listing("prompts", pageSize);
  }

  get offersResources(): boolean {
    return this.resources.size + this.resourceTemplates.size > 0;
  }

  get offersCompletions(): boolean {
    const completing = [...this.prompts.values(), ...this.resourceTemplates.values()];
    return completing.some((entry) => Object.keys(entry.complete).length > 0);
  }

  /** A capability is declared when there is something behind it. */
  capabilities(): ServerCapabilities {
    return {
      logging: {},
      ...(this.tools.size > 0 && { tools: {} }),
      ...(this.offersResources && { resources: {} }),
      ...(this.prompts.size > 0 && { prompts: {} }),
      ...(this.offersCompletions && { completions: {} }),
    };
  }
}
