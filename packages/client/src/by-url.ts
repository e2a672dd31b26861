/** A URL alone: which era and which of the three HTTP transports it speaks is found out, and remembered. */

import { ProtocolError } from "@patchbay/core";
import type { Client } from "./client.ts";
import { ConnectionError } from "./errors.ts";
import type { Settings } from "./options.ts";
import { isTelling, MODERN_CODES } from "./signs.ts";
import { findingOf, forget, remember } from "./transports/findings.ts";
import { HttpTransport } from "./transports/http.ts";
import type { HttpTarget } from "./transports/http-endpoint.ts";
import { reopened } from "./transports/reopened.ts";
import { SseTransport } from "./transports/sse.ts";
import type { Transport } from "./transports/transport.ts";

/** Opens a connection over a transport. */
type Open = (transport: Transport, settings: Settings) => Promise<Client>;

/** Failures that what was found before can be the cause of. */
const DOUBTS = new Set(["refused", "not-mcp", "incompatible", "closed"]);

/** Connects to a URL as it was found to be, or else finds out. */
export async function connectByUrl(target: HttpTarget, chosen: Settings, open: Open): Promise<Client> {
  const settings = await authorized(target, chosen);
  const transport = new HttpTransport(target, settings);
  const url = transport.serverName;
  const known = settings.era === "auto" ? findingOf(url) : undefined;
  const legacy: Settings = { ...settings, era: "legacy" };
  try {
    // A modern server is asked what it can do in any case.
    if (known === "legacy") return await open(transport, legacy);
    if (known === "sse")
      return await open(
        reopened(() => new SseTransport(target, settings)),
        legacy,
      );
  } catch (error) {
    if (!(error instanceof ConnectionError) || !DOUBTS.has(error.reason)) throw error;
    forget(url);
    return find(new HttpTransport(target, settings), target, settings, open);
  }
  return find(transport, target, settings, open);
}

/** What authorizes is loaded where it is wanted, and shared by all that is tried. */
async function authorized(target: HttpTarget, settings: Settings): Promise<Settings> {
  if (settings.auth === undefined) return settings;
  const { authorizationFor, extensionsOf } = await import("./oauth/authorization.ts");
  const declared = extensionsOf(settings.auth);
  return {
    ...settings,
    authorization: await authorizationFor(target, settings.auth),
    ...(Object.keys(declared).length > 0 && { extensions: { ...declared, ...settings.extensions } }),
  };
}

async function find(
  transport: HttpTransport,
  target: HttpTarget,
  settings: Settings,
  open: Open,
): Promise<Client> {
  const url = transport.serverName;
  try {
    const client = await open(transport, settings);
    remember(url, client.era);
    return client;
  } catch (error) {
    if (settings.era === "modern" || !isTelling(transport.refusedWith) || speaksModern(error)) throw error;
    let first: SseTransport | undefined;
    const sse = reopened(() => {
      const transport = new SseTransport(target, settings);
      first ??= transport;
      return transport;
    });
    try {
      const client = await open(sse, { ...settings, era: "legacy" });
      remember(url, "sse");
      return client;
    } catch (other) {
      // Where there is no HTTP+SSE either, what was said first says more.
      throw first?.located ? other : error;
    }
  }
}

function speaksModern(error: unknown): boolean {
  if (!(error instanceof ConnectionError) || error.reason !== "refused") return true;
  return error.cause instanceof ProtocolError && MODERN_CODES.includes(error.cause.code);
}
