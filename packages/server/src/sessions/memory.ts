/** Sessions in this process's memory: they end when idle, and are capped. */

import { limitError } from "@patchbay/core";
import type { SessionRecord } from "../legacy/session.ts";
import { prefixOf } from "./instance.ts";
import type { SessionStore } from "./store.ts";

export interface MemorySessionsOptions {
  /** Milliseconds without a request or an open stream after which a session ends. Default 30 minutes. */
  idleMs?: number;
  /** Sessions that may live at once; one more takes the place of the idlest. Default 10,000. */
  maxSessions?: number;
  /** Those of one principal; one more takes the place of their idlest. Default 1000. */
  maxSessionsPerPrincipal?: number;
  /** Milliseconds for which a session is safe from that; while all are, one more is refused. Default 30 s. */
  safeMs?: number;
  /** Characters of what one session keeps, as JSON: its client's description and subscriptions. Default 64 Ki. */
  maxSessionLength?: number;
  /** Begins each id, for balancers that keep a session with its instance: `a` in `a.…`. Of a–z, 0–9 and `-`. */
  instance?: string;
}

interface Kept {
  record: SessionRecord;
  lastAsked: number;
}

/** A store in memory. What is idle is swept when a session is opened; no timer runs. */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const {
    idleMs = 30 * 60_000,
    maxSessions = 10_000,
    maxSessionsPerPrincipal = 1000,
    safeMs = 30_000,
    maxSessionLength = 64 * 1024,
  } = options;
  const prefix = prefixOf(options.instance);
  // Asked-for sessions move to the end, so the idlest are always first.
  const sessions = new Map<string, Kept>();
  const owned = new Map<string, Set<string>>();

  function forget(id: string): boolean {
    const principal = sessions.get(id)?.record.principal;
    if (principal !== undefined) {
      const own = owned.get(principal);
      own?.delete(id);
      if (own?.size === 0) owned.delete(principal);
    }
    return sessions.delete(id);
  }

  function sweep(now: number): void {
    for (const [id, { lastAsked }] of sessions) {
      if (now - lastAsked < idleMs) return;
      forget(id);
    }
  }

  /** One client that opens sessions by the thousand must not keep all others out for as long as those live. */
  function makeRoom(now: number): void {
    const [idlest] = sessions;
    if (idlest !== undefined && now - idlest[1].lastAsked >= safeMs) forget(idlest[0]);
  }

  /** Who has too many makes room among their own. */
  function admit(principal: string, now: number): void {
    const own = owned.get(principal);
    if (own === undefined || own.size < maxSessionsPerPrincipal) return;
    let idlest: string | undefined;
    let since = now - safeMs;
    for (const id of own) {
      const { lastAsked } = sessions.get(id) as Kept;
      if (lastAsked <= since) [idlest, since] = [id, lastAsked];
    }
    if (idlest !== undefined) return void forget(idlest);
    throw limitError(
      "maxSessionsPerPrincipal",
      `you have as many sessions as maxSessionsPerPrincipal allows (${maxSessionsPerPrincipal}); try later`,
      maxSessionsPerPrincipal,
    );
  }

  function checkLength(record: SessionRecord): void {
    if (JSON.stringify(record).length <= maxSessionLength) return;
    throw limitError(
      "maxSessionLength",
      `a session keeps more than maxSessionLength allows (${maxSessionLength} characters)`,
      maxSessionLength,
    );
  }

  /** An idle session is deleted as soon as it is met. */
  function find(id: string, now: number): Kept | undefined {
    const kept = sessions.get(id);
    if (kept === undefined || now - kept.lastAsked < idleMs) return kept;
    forget(id);
    return undefined;
  }

  return {
    idleMs,
    create(record) {
      const now = Date.now();
      sweep(now);
      const { principal } = record;
      if (principal !== undefined) admit(principal, now);
      if (sessions.size >= maxSessions) makeRoom(now);
      if (sessions.size >= maxSessions) {
        throw limitError(
          "maxSessions",
          `as many sessions as maxSessions allows (${maxSessions}) are open; try later`,
          maxSessions,
        );
      }
      checkLength(record);
      const id = `${prefix}${crypto.randomUUID()}`;
      sessions.set(id, { record, lastAsked: now });
      if (principal !== undefined) {
        const own = owned.get(principal) ?? new Set();
        owned.set(principal, own.add(id));
      }
      return id;
    },
    get(id) {
      const now = Date.now();
      const kept = find(id, now);
      if (kept === undefined) return undefined;
      kept.lastAsked = now;
      sessions.delete(id);
      sessions.set(id, kept);
      return kept.record;
    },
    has: (id) => find(id, Date.now()) !== undefined,
    update(id, change) {
      const kept = find(id, Date.now());
      if (kept === undefined) return undefined;
      const changed = change(kept.record);
      checkLength(changed);
      kept.record = changed;
      return changed;
    },
    count() {
      sweep(Date.now());
      return sessions.size;
    },
    delete: (id) => find(id, Date.now()) !== undefined && forget(id),
  };
}
