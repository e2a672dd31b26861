/** A model that can be changed for another of the same provider while a conversation goes on. */

import type { Model } from "@patchbay/host";

export interface ModelSwitch extends Model {
  /** From the next step on. */
  change(next: Model): void;
}

export function switchable(first: Model): ModelSwitch {
  let current = first;
  return {
    get provider() {
      return current.provider;
    },
    get name() {
      return current.name;
    },
    get label() {
      return current.label;
    },
    reply: (request) => current.reply(request),
    change(next) {
      current = next;
    },
  };
}
