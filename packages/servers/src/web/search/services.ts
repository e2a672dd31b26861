/** Which service searches: the one whose key or URL is set. */

import { brave } from "./brave.ts";
import { exa } from "./exa.ts";
import type { SearchService, ServiceAccess } from "./search.ts";
import { searxng } from "./searxng.ts";
import { tavily } from "./tavily.ts";

/** Keys and places of the services; the first that is set searches, in this order. */
export interface SearchAccess {
  tavily?: ServiceAccess | undefined;
  brave?: ServiceAccess | undefined;
  exa?: ServiceAccess | undefined;
  /** The URL at which SearXNG runs. */
  searxng?: string | undefined;
}

/** The service that searches, with its name, or nothing where none is set. */
export function serviceOf(access: SearchAccess): { name: string; search: SearchService } | undefined {
  if (access.tavily !== undefined) return { name: "Tavily", search: tavily(access.tavily) };
  if (access.brave !== undefined) return { name: "Brave", search: brave(access.brave) };
  if (access.exa !== undefined) return { name: "Exa", search: exa(access.exa) };
  if (access.searxng !== undefined) return { name: "SearXNG", search: searxng(access.searxng) };
  return undefined;
}
