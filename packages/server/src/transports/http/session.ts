/** The session that a legacy HTTP request belongs to, as that request sees it. */

import { isRevision, LATEST_LEGACY, LEGACY_REVISIONS, type RequestId, type Revision } from "@patchbay/core";
import { type LiveLimits, LiveSession } from "../../legacy/live-session.ts";
import type { LiveSessions } from "../../legacy/live-sessions.ts";
import type { LegacySession } from "../../legacy/methods.ts";
import type { Peers } from "../../legacy/peers.ts";
import { type SessionRecord, strangerSession } from "../../legacy/session.ts";
import { SessionEndedError, type SessionStore } from "../../sessions/store.ts";
import type { HttpExchange } from "./exchange.ts";
import { refuse } from "./responses.ts";

/** What a request can do with its session. */
export interface HttpSession extends LegacySession {
  /** Nothing where other requests cannot find the session again. */
  readonly id: string | undefined;
  readonly record: SessionRecord;
  /** What goes on in it, if anything does. */
  readonly going: LiveSession | undefined;
  /** What goes on in it; from now on something does. */
  live(): LiveSession;
}

type Found = HttpSession | undefined;

/** Finds the session of a request, at once if its store does; without one it answers the request and gives nothing. */
export type FindSession = (http: HttpExchange, requestId?: RequestId) => Found | Promise<Found>;

/** Finds the sessions that a store keeps, by the `Mcp-Session-Id` header. */
export function storedSessions(store: SessionStore, all: LiveSessions, peers?: Peers): FindSession {
  return (http, requestId) => {
    if (!speaksLegacy(http, requestId)) return undefined;
    const id = http.header("mcp-session-id");
    if (id === undefined) {
      const what = 'No session: send "initialize" first and repeat its Mcp-Session-Id header';
      refuse(http, 400, what, requestId);
      return undefined;
    }
    const found = (record: SessionRecord | undefined): Found => {
      // Whose it is not cannot tell it from one that has ended.
      if (record !== undefined && record.principal === http.access.principal) {
        all.refresh(id, record);
        return new StoredSession(id, record, store, all, peers);
      }
      if (record === undefined) all.drop(id, "the session ended");
      refuse(http, 404, new SessionEndedError().message, requestId);
      return undefined;
    };
    const looked = store.get(id);
    return looked instanceof Promise ? looked.then(found) : found(looked);
  };
}

/** Gives each request a session of its own, which shares nothing with any other. */
export function passingSessions(limits: LiveLimits): FindSession {
  return (http, requestId) =>
    speaksLegacy(http, requestId) ? new PassingSession(strangerSession(versionOf(http)), limits) : undefined;
}

/** A session that a store keeps. */
export class StoredSession implements HttpSession {
  readonly id: string;
  record: SessionRecord;
  readonly #store: SessionStore;
  readonly #all: LiveSessions;
  readonly #peers: Peers | undefined;

  constructor(
    id: string,
    record: SessionRecord,
    store: SessionStore,
    all: LiveSessions,
    peers: Peers | undefined,
  ) {
    this.id = id;
    this.record = record;
    this.#store = store;
    this.#all = all;
    this.#peers = peers;
  }

  get going(): LiveSession | undefined {
    return this.#all.get(this.id);
  }

  live(): LiveSession {
    return this.#all.of(this.id, this.record);
  }

  keep(change: (record: SessionRecord) => SessionRecord): void | Promise<void> {
    const kept = this.#store.update(this.id, change);
    return kept instanceof Promise ? kept.then((changed) => this.#see(changed)) : this.#see(kept);
  }

  #see(changed: SessionRecord | undefined): void | Promise<void> {
    if (changed === undefined) throw new SessionEndedError();
    this.record = changed;
    this.#all.refresh(this.id, changed);
    return this.#peers?.changed(this.id, changed);
  }
}

class PassingSession implements HttpSession {
  readonly id = undefined;
  record: SessionRecord;
  going: LiveSession | undefined;
  readonly #limits: LiveLimits;

  constructor(record: SessionRecord, limits: LiveLimits) {
    this.record = record;
    this.#limits = limits;
  }

  live(): LiveSession {
    this.going ??= new LiveSession(this.record, this.#limits, () => {});
    return this.going;
  }

  keep(change: (record: SessionRecord) => SessionRecord): void {
    this.record = change(this.record);
  }
}

function speaksLegacy(http: HttpExchange, requestId: RequestId | undefined): boolean {
  const version = http.header("mcp-protocol-version");
  if (version === undefined || (LEGACY_REVISIONS as readonly string[]).includes(version)) return true;
  const known = LEGACY_REVISIONS.join(", ");
  const what = `Unsupported MCP-Protocol-Version: ${version.slice(0, 64)}; supported: ${known}`;
  refuse(http, 400, what, requestId);
  return false;
}

/** Without a session the header says the version; clients older than the header are of 2025-03-26. */
function versionOf(http: HttpExchange): Revision {
  const version = http.header("mcp-protocol-version");
  return isRevision(version) ? version : version === undefined ? "2025-03-26" : LATEST_LEGACY;
}
