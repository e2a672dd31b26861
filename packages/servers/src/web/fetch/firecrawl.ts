/** Firecrawl's scrape (docs.firecrawl.dev/api-reference/endpoint/scrape): a browser elsewhere that runs scripts. */

import { z } from "zod";
import { type FetchLimits, fetchJson } from "../../fetch-json.ts";
import type { FoundPage } from "../pages.ts";
import { at, type ServiceAccess } from "../search/search.ts";
import { visible, visibleLine } from "../visible.ts";

const words = z.union([z.string(), z.array(z.string())]).nullish();

const Scraped = z.object({
  success: z.literal(true),
  data: z.object({
    markdown: z.string().nullish(),
    metadata: z
      .object({
        title: words,
        description: words,
        url: z.string().nullish(),
        sourceURL: z.string().nullish(),
        statusCode: z.number().nullish(),
        error: z.string().nullish(),
      })
      .nullish(),
  }),
});

const MAX_URL = 8000;

const Refusal = z.object({ error: z.string() });

/** @throws Error when Firecrawl refuses, or the page itself answered with an error */
export async function scrape(
  url: URL,
  { key, url: base = "https://api.firecrawl.dev" }: ServiceAccess,
  limits: FetchLimits,
  most: number,
  signal: AbortSignal,
): Promise<FoundPage> {
  const { data } = await fetchJson(at(base, "/v2/scrape"), Scraped, limits, signal, {
    headers: { authorization: `Bearer ${key}` },
    body: { url: url.href, formats: ["markdown"], onlyMainContent: true, timeout: limits.timeout },
    reasonIn: (refusal) => Refusal.safeParse(refusal).data?.error,
    secret: key,
  });
  const { metadata } = data;
  const status = metadata?.statusCode ?? 200;
  if (status >= 400) throw new Error(`${url.host} answered HTTP ${status}`);
  return {
    url: pageOf(metadata?.url) ?? pageOf(metadata?.sourceURL) ?? url.href,
    title: line(metadata?.title, 300),
    description: line(metadata?.description, 1000),
    markdown: visible(data.markdown ?? "")
      .trim()
      .slice(0, most),
  };
}

/** Where it says that it found the page, if a page can be there. */
function pageOf(said: string | null | undefined): string | undefined {
  return said && said.length <= MAX_URL && /^https?:/i.test(said) && URL.canParse(said)
    ? new URL(said).href
    : undefined;
}

function line(said: string | string[] | null | undefined, most: number): string | undefined {
  const [first] = [said ?? ""].flat();
  return visibleLine(first ?? "", most) || undefined;
}
