/** SearXNG's search (docs.searxng.org/dev/search_api): free, keyless, run by oneself. */

import { z } from "zod";
import { fetchJson } from "../../fetch-json.ts";
import { at, type SearchService, scoreOfRank } from "./search.ts";

const Found = z.object({
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      content: z.string().nullish(),
      score: z.number().nullish(),
    }),
  ),
  /** Texts in older releases. */
  answers: z.array(z.union([z.string(), z.object({ answer: z.string() })])).default([]),
});

/** @param url where it runs; its settings have to name `json` among `search.formats` */
export function searxng(url: string): SearchService {
  return async ({ query, maxResults }, limits, signal) => {
    const endpoint = at(url, "/search");
    endpoint.searchParams.set("q", query);
    endpoint.searchParams.set("format", "json");
    const { results, answers } = await fetchJson(endpoint, Found, limits, signal, {
      reasonIn: (_refusal, status) =>
        status === 403 ? "does it offer json? (search.formats in its settings.yml)" : undefined,
    });
    const [answer] = answers;
    const best = results.slice(0, maxResults);
    return {
      answer: typeof answer === "object" ? answer.answer : answer,
      results: best.map(({ title, url, content, score }, rank) => ({
        title: title ?? "",
        url,
        content: content ?? "",
        score: score ?? scoreOfRank(rank, best.length),
      })),
    };
  };
}
