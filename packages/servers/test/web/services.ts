/** A server on loopback that speaks as the search services and Firecrawl do, and takes nothing that they would not. */

import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export const KEYS = {
  tavily: "tvly-canary-0123456789",
  brave: "brave-canary-0123456789",
  exa: "exa-canary-0123456789",
  firecrawl: "fc-canary-0123456789",
};

export interface Heard {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: Record<string, unknown>;
}

export interface Reply {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface Services {
  url: string;
  host: string;
  heard: Heard[];
  /** What is answered in place of the usual, by path. */
  instead: Map<string, (heard: Heard) => Reply | "never">;
  close(): Promise<void>;
}

const PAGES = Array.from({ length: 12 }, (_, index) => ({
  title: `Bees ${index}`,
  url: `https://bees.example/${index}`,
  text: `What bees do in month ${index}.`,
  score: 0.9 - index / 20,
}));

type Speak = (heard: Heard) => Reply;

const speakers: Record<string, Speak> = {
  "POST /search": (heard) => (heard.headers["x-api-key"] === undefined ? tavily(heard) : exa(heard)),
  "GET /res/v1/web/search": brave,
  "GET /search": searxng,
  "POST /v2/scrape": firecrawl,
};

/** docs.tavily.com: `detail.error` says what is wrong. */
function tavily({ headers, body }: Heard): Reply {
  const no = (status: number, error: string) => ({ status, body: { detail: { error } } });
  if (headers.authorization !== `Bearer ${KEYS.tavily}`)
    return no(401, "Unauthorized: missing or invalid API key.");
  const { query, max_results: most = 5, search_depth: depth = "basic", include_answer: answer } = body;
  if (typeof query !== "string" || query === "") return no(400, "Query is missing.");
  if (query.length > 400) return no(400, "Query is too long. Max query length is 400 characters.");
  if (!isCount(most, 0, 20)) return no(400, "Invalid max_results. Must be between 0 and 20.");
  if (depth !== "basic" && depth !== "advanced") return no(400, "Invalid search depth.");
  return ok({
    query,
    ...(answer === true && { answer: "Bees rest in winter." }),
    images: [],
    follow_up_questions: null,
    results: PAGES.slice(0, most).map(({ title, url, text, score }) => ({
      title,
      url,
      content: text,
      score,
      raw_content: null,
    })),
    response_time: 0.4,
    request_id: "00000000-0000-0000-0000-000000000000",
  });
}

/** exa.ai/docs: `error` and `tag` say what is wrong. */
function exa({ headers, body }: Heard): Reply {
  const no = (status: number, error: string) => ({
    status,
    body: { requestId: "1", error, tag: "INVALID_REQUEST_BODY" },
  });
  if (headers["x-api-key"] !== KEYS.exa) return no(401, "Invalid API key");
  const { query, numResults = 10, type = "auto", contents } = body;
  if (typeof query !== "string" || query === "") return no(400, "query is required");
  if (!isCount(numResults, 1, 100)) return no(400, "numResults must be between 1 and 100");
  if (!["auto", "fast", "instant", "deep", "neural", "keyword"].includes(type as string))
    return no(400, "Invalid type");
  const { highlights } = (contents ?? {}) as { highlights?: unknown };
  return ok({
    requestId: "1",
    resolvedSearchType: "neural",
    results: PAGES.slice(0, numResults).map(({ title, url, text }, index) => ({
      id: url,
      title: index === 1 ? null : title,
      url,
      publishedDate: "2026-01-01T00:00:00.000Z",
      author: null,
      ...(highlights !== undefined && { highlights: [text, "And more."], highlightScores: [0.5, 0.4] }),
    })),
    costDollars: { total: 0.005 },
  });
}

/** api-dashboard.search.brave.com: an `ErrorResponse` says what is wrong. */
function brave({ headers, url }: Heard): Reply {
  const no = (status: number, code: string, detail: string) => ({
    status,
    body: { type: "ErrorResponse", error: { id: "1", status, code, detail, meta: {} }, time: 1 },
  });
  if (headers["x-subscription-token"] !== KEYS.brave)
    return no(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.");
  const known = ["q", "count", "result_filter", "text_decorations", "extra_snippets"];
  const query = url.searchParams.get("q") ?? "";
  const count = Number(url.searchParams.get("count") ?? "20");
  if (query === "" || query.length > 400 || query.split(/\s+/).length > 50 || !isCount(count, 1, 20))
    return no(422, "VALIDATION", "Unable to validate request parameter(s)");
  if ([...url.searchParams.keys()].some((name) => !known.includes(name)))
    return no(422, "VALIDATION", "unknown parameter");
  if (query === "nothing") return ok({ type: "search", query: { original: query } });
  const extra = url.searchParams.get("extra_snippets") === "true";
  const bold = url.searchParams.get("text_decorations") !== "false";
  return ok({
    type: "search",
    query: { original: query, more_results_available: true },
    web: {
      type: "search",
      family_friendly: true,
      results: PAGES.slice(0, count).map(({ title, url, text }) => ({
        type: "search_result",
        title,
        url,
        description: bold ? text.replace("bees", "<strong>bees</strong>") : text,
        ...(extra && { extra_snippets: ["Extra one.", "Extra two."] }),
      })),
    },
  });
}

/** docs.searxng.org: without `json` among its formats it answers 403. */
function searxng({ url }: Heard): Reply {
  const { searchParams } = url;
  if (searchParams.get("format") !== "json") return { status: 200, body: "<html>" };
  const query = searchParams.get("q") ?? "";
  if (query === "") return { status: 400, body: { error: "No query" } };
  return ok({
    query,
    number_of_results: 0,
    results: PAGES.map(({ title, url, text, score }) => ({
      title,
      url,
      content: text,
      engine: "duckduckgo",
      score: score * 4,
    })),
    answers: query === "2+2" ? [{ answer: "4", url: null, engine: "calculator" }] : ["An old answer"],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [],
  });
}

/** docs.firecrawl.dev, v2. */
function firecrawl({ headers, body }: Heard): Reply {
  if (headers.authorization !== `Bearer ${KEYS.firecrawl}`)
    return { status: 401, body: { success: false, error: "Unauthorized: Invalid token" } };
  const { url, formats } = body;
  if (typeof url !== "string" || !/^https?:/.test(url))
    return { status: 400, body: { success: false, error: "Bad Request", code: "BAD_REQUEST" } };
  if (!Array.isArray(formats) || !formats.includes("markdown"))
    return { status: 400, body: { success: false, error: "Bad Request: formats" } };
  const found = new URL(url).pathname !== "/missing";
  return ok({
    success: true,
    data: {
      markdown: found ? `# Bees\n\n${"They hum. ".repeat(300)}` : "Not found",
      metadata: {
        title: "Bees",
        description: ["About bees", "again"],
        sourceURL: url,
        url: `${url}#found`,
        statusCode: found ? 200 : 404,
        creditsUsed: 1,
      },
    },
  });
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function isCount(value: unknown, least: number, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

export async function startServices(): Promise<Services> {
  const heard: Heard[] = [];
  const instead: Services["instead"] = new Map();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const url = new URL(request.url ?? "/", "http://service.test");
    const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
    const asked: Heard = {
      method: request.method ?? "",
      url,
      headers: request.headers,
      body: isJson ? JSON.parse(text) : {},
    };
    heard.push(asked);
    const speak = instead.get(url.pathname) ?? speakers[`${request.method} ${url.pathname}`];
    const reply = speak?.(asked) ?? { status: 404, body: { error: "no such path" } };
    if (reply === "never") return;
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    heard,
    instead,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
