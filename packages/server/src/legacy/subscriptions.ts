/** What a legacy session is told of unasked: changed lists, and the resources that it subscribed to. */

import { ErrorCode, type JsonObject, limitError, ProtocolError, writeNotification } from "@patchbay/core";
import { type KnownChange, notificationOf, possibleChanges } from "../changes.ts";
import type { McpServer } from "../server.ts";
import { tellTasks } from "../tasks/legacy.ts";
import { isAskedOf } from "../visits.ts";
import type { SessionRecord } from "./session.ts";

/** The URIs of a session after `resources/subscribe` or `resources/unsubscribe` (server/resources § Subscriptions). */
export function withSubscription(
  watched: readonly string[],
  { uri }: JsonObject,
  subscribe: boolean,
  maxWatched = 1000,
): string[] {
  if (typeof uri !== "string") throw new ProtocolError(ErrorCode.InvalidParams, '"uri" must be a string');
  const others = watched.filter((known) => known !== uri);
  if (!subscribe) return others;
  if (others.length >= maxWatched) {
    const what = `the session watches as many resources as maxWatched allows (${maxWatched})`;
    throw limitError("maxWatched", what, maxWatched);
  }
  return [...others, uri];
}

function concerns(change: KnownChange, { watched, revision, key }: SessionRecord): boolean {
  if (change.kind === "resource") return watched.includes(change.uri);
  if (change.kind === "visit") return revision === "2025-11-25" && isAskedOf(change.elicitationId, key);
  return true;
}

/** Of a list that the server has never said to have nothing is told, whatever other instances have. */
function isOffered({ kind }: KnownChange, { capabilities }: McpServer): boolean {
  if (kind === "resource" || kind === "visit") return true;
  return capabilities[kind]?.listChanged === true;
}

/**
 * Tells a session of changes, and what its tasks have to say.
 *
 * @param session as it stands when something changes
 * @returns ends it
 */
export function tellChanges(
  server: McpServer,
  session: () => SessionRecord | undefined,
  send: (text: string) => void,
): () => void {
  const untell = server.changes.subscribe((change) => {
    const record = session();
    if (record === undefined) return;
    for (const possible of possibleChanges(change, record.watched)) {
      if (!isOffered(possible, server) || !concerns(possible, record)) continue;
      const { method, params } = notificationOf(possible);
      send(writeNotification(method, Object.keys(params).length > 0 ? params : undefined));
    }
  });
  const untellTasks = tellTasks(server, session(), send);
  return () => {
    untell();
    untellTasks();
  };
}
