/** A modern request over HTTP: one POST, answered by JSON, or by a stream if something comes before the answer. */

import { limitError, type RequestMessage, SSE_KEEP_ALIVE, sseEvent, toErrorObject } from "@patchbay/core";
import { answer, errorAnswer } from "../../answer.ts";
import type { Shares } from "../../auth/shares.ts";
import { declaredVersion, ENVELOPE_WIRE, readEnvelope } from "../../modern/envelope.ts";
import { modernCall, modernReply } from "../../modern/methods.ts";
import type { Subscriptions } from "../../modern/subscriptions.ts";
import type { McpServer } from "../../server.ts";
import { every } from "../../timers.ts";
import type { HttpExchange } from "./exchange.ts";
import { checkMirrorHeaders, checkParamHeaders } from "./headers.ts";
import { refuseForNow, sendJson, sendModern } from "./responses.ts";

export interface ModernOptions {
  /** Bytes of a stream that may wait for its reader, which is dropped beyond. */
  maxBufferedBytes: number;
  /** Milliseconds between the comments that keep an idle stream open. */
  keepAlive: number;
  /** The requests of the endpoint that are being answered, and how many may be. */
  running: { count: number; readonly max: number };
  /** How many of them each principal may have. */
  shares: Shares;
}

/** Answers a modern request. */
export function serveModern(
  server: McpServer,
  message: RequestMessage,
  http: HttpExchange,
  subscriptions: Subscriptions,
  options: ModernOptions,
): void {
  const { id, method, params } = message;
  let caller: ReturnType<typeof readEnvelope>;
  try {
    const version = declaredVersion(params);
    if (version !== undefined) checkMirrorHeaders(http, message, version);
    caller = readEnvelope(params, http.access);
    if (method === "tools/call") {
      const mirrored = server.mirroredParams(params.name);
      if (mirrored !== undefined) checkParamHeaders(http, message, mirrored);
    }
  } catch (thrown) {
    return sendJson(http, 400, errorAnswer(ENVELOPE_WIRE, id, thrown).text);
  }

  const { maxBufferedBytes, keepAlive, running, shares } = options;
  const { principal } = http.access;
  if (running.count >= running.max) {
    const what = `more requests are being answered than maxRequests allows (${running.max}); try later`;
    return refuseForNow(http, toErrorObject(limitError("maxRequests", what, running.max)), id);
  }
  try {
    shares.check(principal);
  } catch (thrown) {
    return refuseForNow(http, toErrorObject(thrown), id);
  }
  let streams = false;
  let answered = false;
  /** The answer did not come in the turn of its request. */
  let waits = false;
  let giveBack = () => {};
  let stopKeepAlive: (() => void) | undefined;
  const keepOpen = (): void => {
    stopKeepAlive = every(keepAlive, () => http.write(SSE_KEEP_ALIVE));
  };
  const call = modernCall(server, message, caller, (text) => {
    if (!streams) {
      streams = true;
      http.openStream();
      if (waits) keepOpen();
    }
    if (http.write(sseEvent(text)) > maxBufferedBytes) http.destroy();
  });
  const work = () => modernReply(server, message, call, subscriptions);
  answer(server, call, id, method, work, (settled) => {
    if (waits) running.count--;
    giveBack();
    answered = true;
    call.finish();
    if (!streams) return sendModern(http, settled);
    stopKeepAlive?.();
    http.write(sseEvent(settled.text));
    http.end();
  });
  if (answered) return;
  waits = true;
  running.count++;
  giveBack = shares.take(principal);
  if (streams) keepOpen();
  // The client cancels by going away (streamable-http § Cancellation).
  http.onOver(() => {
    stopKeepAlive?.();
    call.cancel();
  });
}
