/** Brave's search (api-dashboard.search.brave.com, Web Search API). */

import { z } from "zod";
import { fetchJson } from "../../fetch-json.ts";
import { at, type SearchService, type ServiceAccess, scoreOfRank } from "./search.ts";

/** `web` is missing where nothing was found. */
const Found = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string(),
          url: z.string(),
          description: z.string().nullish(),
          extra_snippets: z.array(z.string()).nullish(),
        }),
      ),
    })
    .nullish(),
});

const Refusal = z.object({ error: z.object({ detail: z.string().nullish(), code: z.string().nullish() }) });

/** What Brave takes of a query, in characters and words. */
const MAX_QUERY = 400;
const MAX_WORDS = 50;

export function brave({ key, url = "https://api.search.brave.com" }: ServiceAccess): SearchService {
  return async ({ query, maxResults, depth }, limits, signal) => {
    const endpoint = at(url, "/res/v1/web/search");
    endpoint.searchParams.set("q", shortened(query));
    endpoint.searchParams.set("count", String(maxResults));
    endpoint.searchParams.set("result_filter", "web");
    endpoint.searchParams.set("text_decorations", "false");
    if (depth === "advanced") endpoint.searchParams.set("extra_snippets", "true");
    const { web } = await fetchJson(endpoint, Found, limits, signal, {
      headers: { "x-subscription-token": key },
      reasonIn,
      secret: key,
    });
    const results = web?.results ?? [];
    return {
      results: results.map(({ title, url, description, extra_snippets }, rank) => ({
        title,
        url,
        content: [description ?? "", ...(extra_snippets ?? [])].filter((text) => text !== "").join("\n"),
        score: scoreOfRank(rank, results.length),
      })),
    };
  };
}

function shortened(query: string): string {
  return query.split(/\s+/).slice(0, MAX_WORDS).join(" ").slice(0, MAX_QUERY);
}

function reasonIn(refusal: unknown): string | undefined {
  const error = Refusal.safeParse(refusal).data?.error;
  return error?.detail ?? error?.code ?? undefined;
}
