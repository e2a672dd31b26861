/** What a server tells without being asked for an answer: each notification, to whom it is for. */

import {
  type Era,
  isLoggingLevel,
  isObject,
  type JsonObject,
  META,
  type NotificationMessage,
  type RequestId,
} from "@patchbay/core";
import type { Answers } from "./answers.ts";
import { readable } from "./errors.ts";
import type { InFlight } from "./in-flight.ts";
import type { Settings } from "./options.ts";
import { type Change, changeOf } from "./subscriptions/changes.ts";
import { tell } from "./tell.ts";

/** What they need of the conversation. */
interface NotificationHost {
  readonly settings: Settings;
  readonly inFlight: InFlight;
  readonly pages: Answers["pages"];
  readonly onChange: (change: Change) => void;
  /** The server does not want an answer any more. */
  readonly cancel: (id: RequestId, reason: string) => void;
}

export class Notifications {
  readonly #host: NotificationHost;
  /** Who hears what a legacy server tells of tasks. */
  readonly #hearers = new Set<(method: string, params: JsonObject) => void>();

  constructor(host: NotificationHost) {
    this.#host = host;
  }

  /** Hears what is about no request in flight; what is returned ends it. */
  hear(hearer: (method: string, params: JsonObject) => void): () => void {
    this.#hearers.add(hearer);
    return () => this.#hearers.delete(hearer);
  }

  take(
    { method, params }: Pick<NotificationMessage, "method" | "params">,
    era: Era | undefined,
    requestId: number | undefined,
  ): void {
    const { settings, inFlight, pages, cancel, onChange } = this.#host;
    if (method === "notifications/progress") {
      const exchange = inFlight.get(params.progressToken as number);
      if (exchange === undefined) this.#tellHearers(method, params);
      else exchange.progress(params);
    } else if (method === "notifications/message") {
      this.#log(params, requestId);
    } else if (era === "modern") {
      this.#onNotice(method, params, requestId);
    } else if (method === "notifications/cancelled") {
      const reason = typeof params.reason === "string" ? readable(params.reason) : "the server cancelled it";
      cancel(params.requestId as RequestId, reason);
    } else if (method === "notifications/elicitation/complete") {
      // Ids that are not known, or not any more, mean nothing (2025-11-25, client/elicitation).
      const { elicitationId } = params;
      if (pages.complete(elicitationId)) tell(settings.onElicitComplete, elicitationId as string);
    } else if (method === "notifications/tasks/status") {
      this.#tellHearers(method, params);
    } else {
      const change = changeOf(method, params);
      if (change !== undefined) onChange(change);
    }
  }

  /** What a modern server tells of belongs to a subscription, and to no other (basic/patterns/subscriptions). */
  #onNotice(method: string, params: JsonObject, requestId: number | undefined): void {
    const { inFlight, onChange } = this.#host;
    const ends = method === "notifications/cancelled";
    const named = ends
      ? params.requestId
      : isObject(params._meta)
        ? params._meta[META.subscriptionId]
        : undefined;
    if (typeof named !== "number" || (requestId !== undefined && requestId !== named)) return;
    const exchange = inFlight.get(named);
    if (exchange?.method !== "subscriptions/listen") return;
    if (ends) {
      // A server ends a subscription so; it may not call off anything else.
      inFlight.take(exchange)?.answer({});
      return;
    }
    exchange.notice(method, params);
    const change = changeOf(method, params);
    if (change !== undefined) onChange(change);
  }

  #tellHearers(method: string, params: JsonObject): void {
    for (const hearer of this.#hearers) hearer(method, params);
  }

  #log({ level, logger, data }: JsonObject, requestId: number | undefined): void {
    if (!isLoggingLevel(level)) return;
    const message = { level, data, ...(typeof logger === "string" ? { logger } : {}) };
    tell(this.#host.settings.onLog, message);
    this.#host.inFlight.log(message, requestId);
  }
}
