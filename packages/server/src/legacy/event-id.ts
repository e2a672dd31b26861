/** Ids of events: the stream, what it answers, and the number of the event in it. */

import type { RequestId } from "@patchbay/core";
import { fromBase64Url, toBase64Url } from "../sealing.ts";

export interface EventId {
  readonly stream: string;
  /** The requests that the stream answers, so that a client can be told of them whose stream nobody knows any more. */
  readonly requests: readonly RequestId[];
  readonly seq: number;
}

/** Characters of the requests in an id, which comes with each event; longer ones are left out. */
const MAX_REQUESTS = 1024;
const ID = new RegExp(`^([\\w-]{1,64})(?:\\.([\\w-]{1,${MAX_REQUESTS}}))?\\.(\\d{1,15})$`);

/** What the ids of a stream's events begin with; their number follows. */
export function eventIdPrefix(stream: string, requests: readonly RequestId[]): string {
  if (requests.length === 0) return `${stream}.`;
  const written = toBase64Url(new TextEncoder().encode(JSON.stringify(requests)));
  return written.length > MAX_REQUESTS ? `${stream}.` : `${stream}.${written}.`;
}

/** Takes an event's id apart. What it says comes from a client, and may be anything. */
export function parseEventId(id: string): EventId | undefined {
  const [, stream, written, seq] = ID.exec(id) ?? [];
  if (stream === undefined) return undefined;
  const requests = written === undefined ? [] : parseRequests(written);
  return requests && { stream, requests, seq: Number(seq) };
}

function parseRequests(written: string): RequestId[] | undefined {
  try {
    const bytes = fromBase64Url(written);
    const requests: unknown = bytes && JSON.parse(new TextDecoder().decode(bytes));
    return Array.isArray(requests) && requests.every(isRequestId) ? requests : undefined;
  } catch {
    return undefined;
  }
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}
