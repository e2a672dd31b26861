/** `subscriptions/listen`: a request that stays open and tells of changes (basic/patterns/subscriptions). */

import { ErrorCode, isObject, type JsonObject, ProtocolError } from "@patchbay/core";
import type { Conversation } from "../conversation.ts";
import { ConnectionError, InvalidResponseError, TimeoutError } from "../errors.ts";
import { backoff, pause } from "../pause.ts";
import { tell } from "../tell.ts";
import { type Change, type ChangeFilter, changeOf, common, type Subscription, wants } from "./changes.ts";

const FIRST_PAUSE = 500;
const MAX_PAUSE = 60_000;
/** A server that wants to be left alone for longer is asked after this long all the same. */
const MAX_RETRY_AFTER = 60 * 60_000;
const UNLIMITED = { timeout: Number.POSITIVE_INFINITY, maxTimeout: Number.POSITIVE_INFINITY };

/** Opens a subscription; resolves when the server has acknowledged it. */
export function listenModern(
  conversation: Conversation,
  filter: ChangeFilter,
  onChange: (change: Change) => void,
  missed: Missed,
): Promise<Subscription> {
  return new Promise((resolve, reject) => {
    const onOpen = () => resolve(subscription);
    const subscription = new ModernSubscription(conversation, filter, onChange, missed, onOpen);
    subscription.run().catch(reject);
  });
}

/** What has changed while the subscription was not open. */
type Missed = (honored: ChangeFilter) => Promise<Change[]>;

class ModernSubscription implements Subscription {
  honored: ChangeFilter = {};
  readonly #conversation: Conversation;
  readonly #filter: ChangeFilter;
  readonly #onChange: (change: Change) => void;
  readonly #missed: Missed;
  readonly #onOpen: () => void;
  readonly #closing = new AbortController();
  #opened = false;
  /** Times in a row that it ended without having told anything. */
  #failures = 0;

  constructor(
    conversation: Conversation,
    filter: ChangeFilter,
    onChange: (change: Change) => void,
    missed: Missed,
    onOpen: () => void,
  ) {
    this.#conversation = conversation;
    this.#filter = filter;
    this.#onChange = onChange;
    this.#missed = missed;
    this.#onOpen = onOpen;
  }

  /** Keeps it open until it is closed, or cannot be had any more; rejects when it could not be had at all. */
  async run(): Promise<void> {
    const { signal } = this.#closing;
    // A pause before the next try does not outlive the connection.
    this.#conversation.over.addEventListener("abort", this.close, { once: true, signal });
    while (!signal.aborted) {
      let wait = 0;
      try {
        // It ends by itself when the server shuts down: another instance, or the next one, goes on.
        await this.#listen();
        if (!this.#opened) throw new InvalidResponseError("subscriptions/listen: it was never acknowledged");
      } catch (error) {
        if (error instanceof ProtocolError && error.code === ErrorCode.MethodNotFound)
          return this.#acknowledge({});
        if (!this.#opened) throw error;
        if (signal.aborted) return;
        if (this.#conversation.isOver) return;
        if (error instanceof ConnectionError) wait = Math.min(error.retryAfter ?? 0, MAX_RETRY_AFTER);
        if (error instanceof ProtocolError) {
          const what = `${this.#conversation.transport.serverName} tells of no more changes: ${error.message}`;
          return tell(
            this.#conversation.settings.onWarning,
            new ConnectionError("refused", what, { cause: error }),
          );
        }
      }
      if (this.#conversation.isOver) return;
      await pause(wait + backoff(this.#failures++, FIRST_PAUSE, MAX_PAUSE), signal).catch(() => {});
    }
  }

  readonly close = async (): Promise<void> => {
    this.#closing.abort(new Error("the subscription was closed"));
  };

  /** One request, from when it is sent until it ends. */
  async #listen(): Promise<void> {
    const { timeout } = this.#conversation.settings;
    const silent = new AbortController();
    const timer = setTimeout(
      () => silent.abort(new TimeoutError("subscriptions/listen", "timeout", timeout)),
      timeout,
    );
    let acknowledged = false;
    try {
      await this.#conversation.request(
        {
          method: "subscriptions/listen",
          members: `"notifications":${JSON.stringify(this.#filter)}`,
          onNotice: (method, params) => {
            if (method === "notifications/subscriptions/acknowledged") {
              clearTimeout(timer);
              acknowledged = true;
              this.#acknowledge(isObject(params.notifications) ? params.notifications : {});
            } else if (acknowledged) {
              this.#hear(method, params);
            }
          },
        },
        { ...UNLIMITED, signal: AbortSignal.any([this.#closing.signal, silent.signal]) },
      );
    } finally {
      clearTimeout(timer);
    }
  }

  #acknowledge(honored: JsonObject): void {
    const { resourceSubscriptions: uris, ...lists } = honored;
    const offered = { ...lists, ...(Array.isArray(uris) && { resourceSubscriptions: uris }) } as ChangeFilter;
    this.honored = common(this.#filter, offered);
    if (this.#opened) void this.#catchUp();
    this.#opened = true;
    this.#onOpen();
    // Nothing will ever be told: there is nothing to keep open.
    if (Object.keys(this.honored).length === 0) void this.close();
  }

  async #catchUp(): Promise<void> {
    for (const change of await this.#missed(this.honored)) {
      if (!this.#closing.signal.aborted) tell(this.#onChange, change);
    }
  }

  #hear(method: string, params: JsonObject): void {
    const change = changeOf(method, params);
    if (change === undefined || !wants(this.honored, change)) return;
    this.#failures = 0;
    tell(this.#onChange, change);
  }
}
