/** Exa's search (exa.ai/docs/search). */

import { z } from "zod";
import { fetchJson } from "../../fetch-json.ts";
import { at, type SearchService, type ServiceAccess, scoreOfRank } from "./search.ts";

const Found = z.object({
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      score: z.number().nullish(),
      highlights: z.array(z.string()).nullish(),
    }),
  ),
});

const Refusal = z.object({ error: z.string() });

export function exa({ key, url = "https://api.exa.ai" }: ServiceAccess): SearchService {
  return async ({ query, maxResults, depth }, limits, signal) => {
    const { results } = await fetchJson(at(url, "/search"), Found, limits, signal, {
      headers: { "x-api-key": key },
      body: {
        query,
        numResults: maxResults,
        type: depth === "advanced" ? "deep" : "auto",
        contents: { highlights: true },
      },
      reasonIn: (refusal) => Refusal.safeParse(refusal).data?.error,
      secret: key,
    });
    return {
      results: results.map(({ title, url, score, highlights }, rank) => ({
        title: title ?? "",
        url,
        content: (highlights ?? []).join("\n"),
        score: score ?? scoreOfRank(rank, results.length),
      })),
    };
  };
}
