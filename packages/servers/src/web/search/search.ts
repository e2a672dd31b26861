/** Searching the web: what a service is asked, and what all of them answer. */

import type { FetchLimits } from "../../fetch-json.ts";

export interface SearchQuery {
  query: string;
  /** From 1 to 10. */
  maxResults: number;
  depth: "basic" | "advanced";
}

export interface SearchResult {
  title: string;
  url: string;
  /** What the page says about it, in a few sentences. */
  content: string;
  /** How well it fits, as the service says; by its rank, from 1 down, where it says nothing. */
  score: number;
}

export interface SearchAnswer {
  /** The service's own answer, where it gives one. */
  answer?: string | undefined;
  /** Best first. */
  results: SearchResult[];
}

/** Asks one service, in its own wire. */
export type SearchService = (
  query: SearchQuery,
  limits: FetchLimits,
  signal: AbortSignal,
) => Promise<SearchAnswer>;

/** Where a service is, and the key that it takes. */
export interface ServiceAccess {
  key: string;
  /** Where it is, if it is not where its maker runs it. */
  url?: string | undefined;
}

/** The score of what comes at a place (from 0) among so many, where the service gives none. */
export function scoreOfRank(rank: number, many: number): number {
  return Number((1 - rank / many).toFixed(3));
}

/** A path at a service's base URL. */
export function at(base: string, path: string): URL {
  return new URL(base.replace(/\/+$/, "") + path);
}
