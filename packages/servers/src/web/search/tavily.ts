/** Tavily's search (docs.tavily.com/documentation/api-reference/endpoint/search). */

import { z } from "zod";
import { fetchJson } from "../../fetch-json.ts";
import { at, type SearchService, type ServiceAccess } from "./search.ts";

const Found = z.object({
  answer: z.string().nullish(),
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      content: z.string().nullish(),
      score: z.number(),
    }),
  ),
});

const Refusal = z.object({ detail: z.union([z.string(), z.object({ error: z.string() })]) });

export function tavily({ key, url = "https://api.tavily.com" }: ServiceAccess): SearchService {
  return async ({ query, maxResults, depth }, limits, signal) => {
    const { answer, results } = await fetchJson(at(url, "/search"), Found, limits, signal, {
      headers: { authorization: `Bearer ${key}` },
      body: { query, max_results: maxResults, search_depth: depth, include_answer: true },
      reasonIn,
      secret: key,
    });
    return {
      answer: answer ?? undefined,
      results: results.map(({ title, url, content, score }) => ({
        title: title ?? "",
        url,
        content: content ?? "",
        score,
      })),
    };
  };
}

function reasonIn(refusal: unknown): string | undefined {
  const detail = Refusal.safeParse(refusal).data?.detail;
  return typeof detail === "object" ? detail.error : detail;
}
