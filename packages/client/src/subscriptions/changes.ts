/** What may change in a server, and how an application hears of it: the same in both eras. */

import type { JsonObject } from "@patchbay/core";

/** A list has other entries than before, or a resource other contents. */
export type Change =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string };

/** What to be told of (basic/patterns/subscriptions § Notification Filter). */
export interface ChangeFilter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  /** URIs of resources to watch. */
  resourceSubscriptions?: readonly string[];
}

/** Changes are told until it is closed; when the connection breaks off, it is opened again. */
export interface Subscription {
  /** What the server agreed to tell of; it may be less than what was asked for. */
  readonly honored: ChangeFilter;
  /** Nothing more is told. */
  close(): Promise<void>;
}

const LISTS = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
} as const;

/** The change that a notification tells of, if it tells of one. */
export function changeOf(method: string, params: JsonObject): Change | undefined {
  switch (method) {
    case "notifications/tools/list_changed":
      return { kind: "tools" };
    case "notifications/prompts/list_changed":
      return { kind: "prompts" };
    case "notifications/resources/list_changed":
      return { kind: "resources" };
    case "notifications/resources/updated":
      return typeof params.uri === "string" ? { kind: "resource", uri: params.uri } : undefined;
    default:
      return undefined;
  }
}

/** Whether a change was asked for. A resource may tell of what is below it (server/resources § Subscriptions). */
export function wants(filter: ChangeFilter, change: Change): boolean {
  if (change.kind !== "resource") return filter[LISTS[change.kind]] === true;
  return filter.resourceSubscriptions?.some((uri) => isWithin(change.uri, uri)) ?? false;
}

/** Whether a resource is another, or below it. */
export function isWithin(uri: string, whole: string): boolean {
  return uri === whole || uri.startsWith(whole.endsWith("/") ? whole : `${whole}/`);
}

/** What both filters have. */
export function common(asked: ChangeFilter, offered: ChangeFilter): ChangeFilter {
  const both: ChangeFilter = {};
  for (const list of Object.values(LISTS))
    if (asked[list] === true && offered[list] === true) both[list] = true;
  const uris = asked.resourceSubscriptions?.filter((uri) => offered.resourceSubscriptions?.includes(uri));
  if (uris !== undefined && uris.length > 0) both.resourceSubscriptions = uris;
  return both;
}
