/** Sessions in this process's memory: they end when idle, and are capped. */

import { randomUUID } from "node:crypto";
import { limitError } from "@patchbay/core";
import type { SessionRecord } from "../legacy/session.ts";
import type { SessionStore } from "./store.ts";

export interface MemorySessionsOptions {
  /** Milliseconds without a request after which a session ends. Default 30 minutes. */
  idleMs?: number;
  /** Sessions that may live at once; one more is refused. Default 10,000. */
  maxSessions?: number;
}

interface Kept {
  record: SessionRecord;
  lastAsked: number;
}

/** A store in memory. What is idle is swept when room is needed and when it is asked for; no timer runs. */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const { idleMs = 30 * 60_000, maxSessions = 10_000 } = options;
  // Asked-for sessions move to the end, so the idlest are always first.
  const sessions = new Map<string, Kept>();

  function sweep(now: number): void {
    for (const [id, { lastAsked }] of sessions) {
      if (now - lastAsked < idleMs) return;
      sessions.delete(id);
    }
  }

  return {
    create(record) {
      const now = Date.now();
      sweep(now);
      if (sessions.size >= maxSessions) {
        throw limitError(
          "maxSessions",
          `as many sessions as maxSessions allows (${maxSessions}) are open; try later`,
          maxSessions,
        );
      }
      const id = randomUUID();
      sessions.set(id, { record, lastAsked: now });
      return id;
    },
    get(id) {
      const kept = sessions.get(id);
      if (kept === undefined) return undefined;
      const now = Date.now();
      sessions.delete(id);
      if (now - kept.lastAsked >= idleMs) return undefined;
      kept.lastAsked = now;
      sessions.set(id, kept);
      return kept.record;
    },
    update(id, record) {
      const kept = sessions.get(id);
      if (kept !== undefined) kept.record = record;
    },
    delete: (id) => sessions.delete(id),
  };
}
