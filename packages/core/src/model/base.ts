/** What many parts of the model share (2026-07-28, schema § Common Types). */

import type { JsonObject } from "../json.ts";

export type Meta = JsonObject;
export type Role = "user" | "assistant";
export type Cursor = string;
export type ProgressToken = string | number;

export interface Icon {
  /** An `https:` or `data:` URI. */
  src: string;
  mimeType?: string;
  /** `"48x48"`, or `"any"`. */
  sizes?: string[];
  theme?: "light" | "dark";
}

export interface Annotations {
  audience?: Role[];
  /** From 0 (optional) to 1 (required). */
  priority?: number;
  /** ISO 8601. */
  lastModified?: string;
}

/** Who a server or a client says it is. Not verified: for display and logs only. */
export interface Implementation {
  name: string;
  version: string;
  title?: string;
  description?: string;
  websiteUrl?: string;
  icons?: Icon[];
}

/** What lists share: `ttlMs` and `cacheScope` exist since 2026-07-28 (server/utilities/caching). */
export interface CacheHints {
  /** Milliseconds for which the result may be used again; 0 is not at all. */
  ttlMs?: number;
  /** `public`: the same for every caller. */
  cacheScope?: "public" | "private";
}

export interface Page {
  /** Missing on the last page. An empty string is a cursor too. */
  nextCursor?: Cursor;
}

export interface Result {
  _meta?: Meta;
  [key: string]: unknown;
}

export interface Progress {
  /** Grows with each notification. */
  progress: number;
  total?: number;
  message?: string;
}

/** Least severe first (RFC 5424). */
export const LOGGING_LEVELS = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;
export type LoggingLevel = (typeof LOGGING_LEVELS)[number];

export interface LogMessage {
  level: LoggingLevel;
  logger?: string;
  data: unknown;
}

/** True when `level` is at least as severe as `minimum`. */
export function isAtLeast(level: LoggingLevel, minimum: LoggingLevel): boolean {
  return LOGGING_LEVELS.indexOf(level) >= LOGGING_LEVELS.indexOf(minimum);
}

export function isLoggingLevel(name: unknown): name is LoggingLevel {
  return (LOGGING_LEVELS as readonly unknown[]).includes(name);
}
