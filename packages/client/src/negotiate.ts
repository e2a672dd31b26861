/** Which era and revision a server speaks: found out by asking (basic/versioning, and each transport). */

import {
  type Era,
  ErrorCode,
  eraOf,
  type Implementation,
  isObject,
  isRevision,
  type JsonObject,
  LATEST_LEGACY,
  LATEST_MODERN,
  LEGACY_REVISIONS,
  META,
  MODERN_REVISIONS,
  ProtocolError,
  REVISIONS,
  type Revision,
  type ServerCapabilities,
  wireOf,
} from "@patchbay/core";
import type { Conversation } from "./conversation.ts";
import { ConnectionError, InvalidResponseError, readable } from "./errors.ts";
import { backoff, FIRST_PAUSE, MAX_PAUSE, pause } from "./pause.ts";
import type { Question } from "./question.ts";
import { isTelling, MODERN_CODES } from "./signs.ts";

/** What both sides have agreed on, and what the server said of itself. */
export interface Agreement {
  revision: Revision;
  era: Era;
  server: Implementation | undefined;
  capabilities: ServerCapabilities;
  instructions: string | undefined;
}

/** What the first question of a modern client brought to light. */
type Finding = { era: "modern"; agreement: Agreement } | { era: "legacy"; why: Error | undefined };

/**
 * Finds the newest revision that both sides speak, and opens the connection in it.
 *
 * @throws ConnectionError when there is none, or the server will not serve us
 */
export async function negotiate(conversation: Conversation): Promise<Agreement> {
  const { era } = conversation.settings;
  if (era === "legacy") return initialize(conversation);
  const probe = discover(conversation, LATEST_MODERN);
  if (era === "modern") {
    const finding = await probe;
    if (finding.era === "modern") return settleOn(conversation, finding.agreement);
    throw incompatible(conversation, "it does not speak a modern revision", finding.why);
  }
  // A probe that is never answered must not become an unhandled rejection when the connection ends.
  probe.catch(() => {});
  const { transport } = conversation;
  const finding = await Promise.race([probe, transport.probeExpired()]);
  if (finding?.era === "modern") return settleOn(conversation, finding.agreement);
  try {
    return await initialize(conversation);
  } catch (refusal) {
    if (finding !== undefined || !(refusal instanceof ConnectionError) || refusal.reason !== "refused")
      throw refusal;
    // Silent, then not willing to initialize: a modern server that was slow to start. Its answer is on its way.
    const late = await Promise.race([probe, transport.probeExpired()]);
    if (late?.era === "modern") return settleOn(conversation, late.agreement);
    throw refusal;
  }
}

/** Asks what a modern server is; anything but a modern answer is a legacy server's. */
async function discover(conversation: Conversation, revision: Revision, isRetry = false): Promise<Finding> {
  conversation.speak(revision);
  let result: JsonObject;
  try {
    result = await conversation.request(
      { method: "server/discover", members: "", opens: true },
      { timeout: patience(conversation) },
    );
  } catch (error) {
    if (error instanceof ProtocolError) {
      if (!MODERN_CODES.includes(error.code)) return { era: "legacy", why: error };
      return otherRevision(conversation, error, isRetry ? revision : undefined);
    }
    if (error instanceof InvalidResponseError || isClientError(error))
      return { era: "legacy", why: error as Error };
    throw error;
  }
  const supported = strings(result.supportedVersions);
  if (supported === undefined) {
    return { era: "legacy", why: new InvalidResponseError("server/discover: no supportedVersions") };
  }
  const chosen = MODERN_REVISIONS.find((candidate) => supported.includes(candidate));
  if (chosen === undefined) return onlyOthers(conversation, supported);
  const meta = isObject(result._meta) ? result._meta : {};
  return {
    era: "modern",
    agreement: {
      revision: chosen,
      era: "modern",
      server: implementation(meta[META.serverInfo]),
      ...introduction(result),
    },
  };
}

/**
 * A modern server refused the probe: it speaks another revision, or wants what we do not have.
 *
 * @param tried a revision that need not be tried again
 */
function otherRevision(
  conversation: Conversation,
  error: ProtocolError,
  tried: Revision | undefined,
): Promise<Finding> | Finding {
  const supported = isObject(error.data) ? strings(error.data.supported) : undefined;
  if (error.code !== ErrorCode.UnsupportedProtocolVersion) {
    throw new ConnectionError(
      "refused",
      `${conversation.transport.serverName} refused server/discover: ${error.message}`,
      { cause: error },
    );
  }
  if (supported === undefined)
    throw incompatible(conversation, "it does not say which revisions it speaks", error);
  // Though it refused it, a server may name the very revision that was asked for: it is asked once more.
  const other = MODERN_REVISIONS.find((candidate) => candidate !== tried && supported.includes(candidate));
  return other === undefined ? onlyOthers(conversation, supported) : discover(conversation, other, true);
}

/** No modern revision in common; a legacy one that the server names is opened as legacy revisions are. */
function onlyOthers(conversation: Conversation, supported: readonly string[]): Finding {
  if (LEGACY_REVISIONS.some((revision) => supported.includes(revision)))
    return { era: "legacy", why: undefined };
  throw incompatible(conversation, `it speaks ${readable(supported.join(", "), 200)}`);
}

/**
 * Opens a legacy session (2025-11-25, basic/lifecycle).
 *
 * @throws ConnectionError when the server refuses, or chooses a revision that we do not speak
 */
async function initialize(
  conversation: Conversation,
  offered: Revision = LATEST_LEGACY,
  timeout = patience(conversation),
): Promise<Agreement> {
  const { settings } = conversation;
  conversation.speak(offered);
  const capabilities = JSON.stringify(conversation.answers.capabilities("legacy"));
  const clientInfo = JSON.stringify(wireOf(offered).implementation(settings.clientInfo));
  const members = `"protocolVersion":"${offered}","capabilities":${capabilities},"clientInfo":${clientInfo}`;
  let result: JsonObject;
  try {
    result = await conversation.request({ method: "initialize", members, opens: true }, { timeout });
  } catch (error) {
    const other = offered === LATEST_LEGACY ? namedInstead(error) : undefined;
    if (other !== undefined) return initialize(conversation, other, timeout);
    throw refused(conversation, error);
  }
  const revision = result.protocolVersion;
  if (!isRevision(revision) || eraOf(revision) !== "legacy") {
    throw incompatible(conversation, `it chose ${readable(JSON.stringify(revision ?? null), 40)}`);
  }
  const server = implementation(result.serverInfo);
  const agreement = settleOn(conversation, { revision, era: "legacy", server, ...introduction(result) });
  await tellInitialized(conversation, performance.now() + timeout);
  return agreement;
}

/** Another instance may take it than has answered, and want it later. */
async function tellInitialized(conversation: Conversation, until: number): Promise<void> {
  const { maxRetries, maxRetryAfter } = conversation.settings;
  for (let retries = 0; ; retries++) {
    try {
      return await conversation.notify("notifications/initialized", undefined, "connectTimeout");
    } catch (error) {
      const { retryAfter } = error as Partial<ConnectionError>;
      if (retryAfter === undefined || retryAfter > maxRetryAfter || retries >= maxRetries) throw error;
      const ms = retryAfter + backoff(retries, FIRST_PAUSE, MAX_PAUSE);
      if (performance.now() + ms >= until) throw error;
      await pause(ms, conversation.over);
    }
  }
}

/**
 * Opens a connection again whose session or process was lost, as what it was.
 *
 * @throws ConnectionError when the server refuses, or is another by now
 */
export async function openAgain(conversation: Conversation, { era, revision }: Agreement): Promise<void> {
  const timeout = conversation.settings.connectTimeout;
  if (era === "legacy") {
    await initialize(conversation, LATEST_LEGACY, timeout);
    return;
  }
  const question: Question = { method: "server/discover", members: "", opens: true };
  try {
    const { supportedVersions } = await conversation.request(question, { timeout });
    if (strings(supportedVersions)?.includes(revision) === true) return;
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
  }
  throw incompatible(conversation, `it does not speak ${revision} any more`);
}

/** A server that refuses the revision offered, though it should have answered with its own, may name its own. */
function namedInstead(error: unknown): Revision | undefined {
  if (!(error instanceof ProtocolError) || !isObject(error.data)) return undefined;
  const supported = strings(error.data.supported);
  return LEGACY_REVISIONS.find((revision) => revision !== LATEST_LEGACY && supported?.includes(revision));
}

function settleOn(conversation: Conversation, agreement: Agreement): Agreement {
  conversation.serverInfo = agreement.server;
  conversation.speak(agreement.revision);
  conversation.agree(agreement.era);
  return agreement;
}

function refused({ transport }: Conversation, error: unknown): unknown {
  if (error instanceof ProtocolError) {
    const what = `${transport.serverName} refused initialize: ${error.message}`;
    return new ConnectionError("refused", what, { cause: error });
  }
  if (error instanceof InvalidResponseError) {
    return new ConnectionError("not-mcp", `${transport.serverName} does not speak MCP: ${error.message}`, {
      cause: error,
    });
  }
  return error;
}

/** Connecting as a whole has its own limit, which comes first. */
function patience({ settings }: Conversation): number {
  return 2 * settings.connectTimeout;
}

function isClientError(error: unknown): boolean {
  return error instanceof ConnectionError && isTelling(error.status);
}

function incompatible({ transport }: Conversation, what: string, cause?: unknown): ConnectionError {
  return new ConnectionError(
    "incompatible",
    `${transport.serverName} and Patchbay have no revision in common: ${what}, Patchbay speaks ${REVISIONS.join(", ")}`,
    cause === undefined ? {} : { cause },
  );
}

function introduction(result: JsonObject): Pick<Agreement, "capabilities" | "instructions"> {
  return {
    capabilities: isObject(result.capabilities) ? (result.capabilities as ServerCapabilities) : {},
    instructions: typeof result.instructions === "string" ? result.instructions : undefined,
  };
}

function implementation(value: unknown): Implementation | undefined {
  if (!isObject(value) || typeof value.name !== "string" || typeof value.version !== "string")
    return undefined;
  return value as unknown as Implementation;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === "string") ? value : undefined;
}
