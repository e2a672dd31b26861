/** Sealed sessions: the record rides in the session's id, so that any instance with the secrets serves it, with no store. */

import { eraOf, isLoggingLevel, isObject, isRevision, type JsonObject, limitError } from "@patchbay/core";
import type { SessionRecord } from "../legacy/session.ts";
import { createSealer, fromBase64Url, type Sealer, toBase64Url } from "../sealing.ts";
import { prefixOf, splitPrefix } from "./instance.ts";
import { Recent } from "./recent.ts";
import type { SessionStore } from "./store.ts";

export type SealedSessionsOptions = SealedSessionsLimits &
  (
    | {
        /** At least 32 characters each: the first seals, all open. The same for all instances. */
        secrets: readonly string[];
        verify?: "seal";
      }
    | {
        /**
         * Ids are not sealed, and nothing but their form is checked. Anyone can make one; whoever does gets what all
         * get who initialize.
         */
        verify: "form";
        secrets?: undefined;
      }
  );

export interface SealedSessionsLimits {
  /** Milliseconds that a session lives, however busy. Default 24 hours. */
  maxAgeMs?: number;
  /** Characters of an id, and of what is remembered of a session that changed. Default 6144: a header holds it. */
  maxSessionLength?: number;
  /** Sessions whose changes, and whose end, this instance remembers; then it forgets the oldest. Default 10,000. */
  maxRemembered?: number;
  /**
   * Whether clients may be asked things. Their answers have to come to the instance that asked: there is only one, or a
   * balancer keeps sessions with theirs. Default true.
   */
  takesAnswers?: boolean;
  /** Begins each id, for balancers that keep a session with its instance: `a` in `a.…`. Of a–z, 0–9 and `-`. */
  instance?: string;
}

/** What an id holds. */
interface Sealed {
  since: number;
  record: SessionRecord;
  /** Names the session where its record does not. */
  name?: string;
  /** What its id begins with, so that this cannot be changed either. */
  prefix?: string;
}

/** A session whose id was opened, as it is now. */
interface Opened {
  readonly name: string;
  readonly until: number;
  record: SessionRecord;
}

/** Characters of the ids that are kept open: thousands, and a few MiB. */
const KEPT_OPEN = 4 * 1024 * 1024;

/**
 * A store that stores nothing. What changes after `initialize` (the log level, what is subscribed to) and the end of a
 * session by DELETE are known to this instance alone.
 *
 * @throws Error when there is no secret, or one is shorter than 32 characters
 */
export function sealedSessions(options: SealedSessionsOptions): SessionStore {
  const { maxAgeMs = 24 * 3_600_000, maxSessionLength = 6144, maxRemembered = 10_000 } = options;
  const sealer = sealerOf(options);
  const prefix = prefixOf(options.instance);
  const open = new Recent<Opened>(KEPT_OPEN);
  const changed = new Map<string, SessionRecord>();
  const ended = new Map<string, true>();

  function checkLength(text: string): void {
    if (text.length <= maxSessionLength) return;
    const what = `a session is longer than maxSessionLength allows (${maxSessionLength} characters in its id)`;
    throw limitError("maxSessionLength", what, maxSessionLength);
  }

  function remember<T>(all: Map<string, T>, name: string, value: T): void {
    all.delete(name);
    all.set(name, value);
    for (const oldest of all.keys()) {
      if (all.size <= maxRemembered) return;
      all.delete(oldest);
    }
  }

  /** At once for a session that was asked for lately. */
  function find(id: string): Opened | undefined | Promise<Opened | undefined> {
    const known = open.get(id);
    if (known === undefined) return unseal(id);
    return Date.now() < known.until ? known : undefined;
  }

  async function unseal(id: string): Promise<Opened | undefined> {
    if (id.length > maxSessionLength) return undefined;
    const { prefix, rest } = splitPrefix(id);
    const sealed = asSealed(await sealer.open(rest));
    if (sealed === undefined || (sealed.prefix ?? "") !== prefix) return undefined;
    const { since, record } = sealed;
    const name = sealed.name ?? record.key;
    const until = since + maxAgeMs;
    if (name === undefined || Date.now() >= until || ended.has(name)) return undefined;
    const opened = { name, until, record: changed.get(name) ?? record };
    open.set(id, opened);
    return opened;
  }

  return {
    takesAnswers: options.takesAnswers ?? true,
    async create(record) {
      const sealed: Sealed = { since: Date.now(), record };
      if (record.key === undefined) sealed.name = crypto.randomUUID();
      if (prefix !== "") sealed.prefix = prefix;
      const id = prefix + (await sealer.seal(sealed as unknown as JsonObject));
      checkLength(id);
      return id;
    },
    get: (id) => then(find(id), (opened) => opened?.record),
    has: (id) => then(find(id), (opened) => opened !== undefined),
    update: (id, change) =>
      then(find(id), (opened) => {
        if (opened === undefined) return undefined;
        const record = change(opened.record);
        checkLength(JSON.stringify(record));
        opened.record = record;
        remember(changed, opened.name, record);
        return record;
      }),
    delete: (id) =>
      then(find(id), (opened) => {
        if (opened === undefined) return false;
        open.delete(id);
        changed.delete(opened.name);
        remember(ended, opened.name, true);
        return true;
      }),
  };
}

function sealerOf({ secrets, verify }: SealedSessionsOptions): Sealer {
  if (verify === "form") return UNSEALED;
  if (secrets === undefined || secrets.length === 0) {
    throw new Error(
      "sealedSessions needs secrets, the same for all instances; `openssl rand -hex 32` makes one",
    );
  }
  return createSealer("session", secrets);
}

/** Writes and reads, and keeps nothing from anybody. */
const UNSEALED: Sealer = {
  seal: async (payload) => toBase64Url(new TextEncoder().encode(JSON.stringify(payload))),
  async open(text) {
    const bytes = fromBase64Url(text);
    try {
      const payload: unknown = JSON.parse(new TextDecoder().decode(bytes));
      return isObject(payload) ? payload : undefined;
    } catch {
      return undefined;
    }
  },
};

/** What is not sealed may be anything. */
function asSealed(payload: JsonObject | undefined): Sealed | undefined {
  if (payload === undefined) return undefined;
  const { since, name, record } = payload;
  if (typeof since !== "number" || !isObject(record)) return undefined;
  if (name !== undefined && typeof name !== "string") return undefined;
  const { key, principal, revision, client, logLevel, watched } = record;
  const wellFormed =
    (key === undefined || typeof key === "string") &&
    (principal === undefined || typeof principal === "string") &&
    isRevision(revision) &&
    eraOf(revision) === "legacy" &&
    isObject(client) &&
    isObject(client.capabilities) &&
    (client.info === undefined || isObject(client.info)) &&
    isLoggingLevel(logLevel) &&
    Array.isArray(watched) &&
    watched.every((uri) => typeof uri === "string");
  return wellFormed ? (payload as unknown as Sealed) : undefined;
}

function then<T, Out>(value: T | Promise<T>, next: (value: T) => Out): Out | Promise<Out> {
  return value instanceof Promise ? value.then(next) : next(value);
}
