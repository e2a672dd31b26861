/** JSON from an authorization server: over HTTPS, bounded in size and time, and no redirect is followed. */

import { isObject, type JsonObject } from "@patchbay/core";

/** Bytes of a document. */
const MAX_BYTES = 256 * 1024;
/** Milliseconds for one. */
const TIMEOUT = 5000;

/** @throws Error for a URL by which somebody could listen in, or answer */
export function secureUrl(what: string, url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const loopback = parsed !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(parsed.hostname);
  if (parsed?.protocol === "https:" || (parsed?.protocol === "http:" && loopback)) return parsed;
  throw new Error(`${what}: "${url}" is not a URL with https (http is for this machine alone)`);
}

/**
 * @returns the response, its body read and within bounds
 * @throws Error when there is none in time, or it is too large
 */
export async function boundedFetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT);
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  const response = await fetch(url, { ...init, signal, redirect: "manual" });
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done || value === undefined) break;
    length += value.length;
    if (length > MAX_BYTES) {
      reader?.cancel().catch(() => {});
      throw new Error(`${new URL(url).origin} sent more than ${MAX_BYTES} bytes`);
    }
    pieces.push(value);
  }
  const body = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    at += piece.length;
  }
  const { status, headers } = response;
  return new Response([204, 205, 304].includes(status) || status < 200 ? null : body, { status, headers });
}

/**
 * @returns the object that is there; nothing where the status is not 200
 * @throws Error when what is there is no object, or nothing could be had
 */
export async function fetchObject(url: string | URL, init?: RequestInit): Promise<JsonObject | undefined> {
  const response = await boundedFetch(url, init);
  if (response.status !== 200) return undefined;
  const value: unknown = await response.json();
  if (!isObject(value)) throw new Error(`${url} is no JSON object`);
  return value;
}
