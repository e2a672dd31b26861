/** Who subscribed to which file, so that it is watched as long as somebody wants to know. */

import { isObject, type JsonObject } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { refusing } from "./resources.ts";
import type { Roots } from "./roots.ts";
import type { Watching } from "./watching.ts";

/**
 * Watches what clients subscribe to: in a session until they unsubscribe, else as long as they listen. A session may end
 * without a word; when there are too many, those that subscribed longest ago are forgotten.
 */
export function watchSubscribed(server: McpServer, roots: Roots, watching: Watching, most: number): void {
  const sessions = new Map<string, () => void>();
  const begin = (uri: string) =>
    refusing(() => watching.watch(roots.locate(uri), roots, () => server.resourceUpdated(uri)));
  const forget = (subscription: string) => {
    sessions.get(subscription)?.();
    sessions.delete(subscription);
  };

  server.use(async ({ method, params, exchange }, next) => {
    const subscription = `${exchange.key ?? ""} ${String(params.uri)}`;
    switch (method) {
      case "resources/subscribe": {
        if (typeof params.uri !== "string") return next();
        for (const oldest of sessions.keys()) {
          if (sessions.size < most) break;
          forget(oldest);
        }
        forget(subscription);
        sessions.set(subscription, await begin(params.uri));
        try {
          return await next();
        } catch (error) {
          forget(subscription);
          throw error;
        }
      }
      case "resources/unsubscribe":
        forget(subscription);
        return next();
      case "subscriptions/listen": {
        const ends: (() => void)[] = [];
        try {
          for (const uri of watchedOf(params)) ends.push(await begin(uri));
          return await next();
        } finally {
          for (const end of ends) end();
        }
      }
      default:
        return next();
    }
  });
}

/** Of these alone; that the rest of the filter is in order, the server sees. */
function watchedOf({ notifications }: JsonObject): string[] {
  const uris = isObject(notifications) ? notifications.resourceSubscriptions : undefined;
  return Array.isArray(uris)
    ? uris.filter((uri): uri is string => typeof uri === "string" && uri.startsWith("file:"))
    : [];
}
