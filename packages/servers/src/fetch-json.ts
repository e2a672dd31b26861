/** One JSON answer of a web service, within a time and a size; what goes wrong is said for people. */

import type { z } from "zod";
import { visibleLine } from "./web/visible.ts";

export interface FetchLimits {
  /** Milliseconds for one request, from first to last byte. Default 10,000. */
  timeout: number;
  /** Bytes of one answer. Default 1,000,000. */
  maxResponseBytes: number;
}

/** What is sent, and how the service says no. */
export interface JsonRequest {
  headers?: Record<string, string>;
  /** Sent as JSON by POST. Default: nothing is sent, by GET. */
  body?: unknown;
  /** The reason in a refusal's JSON, where there is one. Default: none is looked for. */
  reasonIn?: (refusal: unknown, status: number) => string | undefined;
  /** What no error may show though the service says it: the key. */
  secret?: string | undefined;
}

/**
 * Asks a URL and checks its JSON. Redirects are not followed: a key goes nowhere but where it belongs.
 *
 * @throws Error whose message may be shown: unreachable, too slow, too large, refused, not understood.
 * When `signal` aborts, its reason is thrown.
 */
export async function fetchJson<T>(
  url: URL,
  schema: z.ZodType<T>,
  limits: FetchLimits,
  signal: AbortSignal,
  { headers, body: sent, reasonIn = () => undefined, secret }: JsonRequest = {},
): Promise<T> {
  // Only for whom a service is asked: most starts of a server answer a list of tools, and no more.
  const { request } = await import("undici");
  const deadline = AbortSignal.timeout(limits.timeout);
  const json = sent === undefined ? null : JSON.stringify(sent);
  try {
    const { statusCode, body } = await request(url, {
      method: json === null ? "GET" : "POST",
      signal: AbortSignal.any([signal, deadline]),
      headers: {
        accept: "application/json",
        ...(json !== null && { "content-type": "application/json" }),
        ...headers,
      },
      body: json,
    });
    const text = await readWithin(body, limits.maxResponseBytes, url.host);
    if (statusCode !== 200) {
      const reason = reasonIn(parsed(text), statusCode);
      // The key first: cut in two it would not be found.
      const kept = secret === undefined ? reason : reason?.replaceAll(secret, "…");
      throw refused(url.host, statusCode, kept && visibleLine(kept, MAX_REASON));
    }
    return understood(text, schema, url.host);
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.aborted) {
      throw new Error(`${url.host} did not answer within ${limits.timeout} ms (timeout)`);
    }
    throw error instanceof AnswerError ? error : unreachable(url.host, error);
  }
}

/** Characters of what a service says of its refusal. */
const MAX_REASON = 300;

/** The service answered, and the answer is no use. */
class AnswerError extends Error {}

async function readWithin(body: AsyncIterable<Uint8Array>, most: number, host: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop destroys the body, and with it the connection.
    if (size > most) throw new AnswerError(`${host} sent more bytes than maxResponseBytes allows (${most})`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function refused(host: string, status: number, reason: string | undefined): AnswerError {
  const because = reason ? `: ${reason}` : "";
  if (status === 429)
    return new AnswerError(`${host} takes no more requests for now${because || "; try again later"}`);
  if (status >= 500)
    return new AnswerError(`${host} is out of order (HTTP ${status})${because}; try again later`);
  return new AnswerError(`${host} refused the request (HTTP ${status})${because}`);
}

function understood<T>(text: string, schema: z.ZodType<T>, host: string): T {
  const result = schema.safeParse(parsed(text));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue?.path.join(".") || "the answer";
  throw new AnswerError(`${host} gave an answer that is not understood (${where}: ${issue?.message})`);
}

/** The JSON, or undefined where there is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const OFFLINE = new Set(["ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH", "ENETDOWN"]);

/** Why a host could not be reached, in words, and what that means. */
export function unreachable(host: string, error: unknown): Error {
  const code = (error as { code?: unknown }).code;
  const why = typeof code === "string" ? code : "the connection failed";
  const advice = OFFLINE.has(why)
    ? "; this machine seems to be offline"
    : why === "ECONNREFUSED"
      ? "; nothing listens there"
      : "";
  return new Error(`could not reach ${host}: ${why}${advice}`, { cause: error });
}
