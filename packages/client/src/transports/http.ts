/** A server behind a URL: each message is a POST (basic/transports/streamable-http; 2025-11-25, basic/transports). */

import type { IncomingHttpHeaders } from "node:http";
import {
  encodeHeaderValue,
  eraOf,
  type InvalidMessage,
  type Message,
  type Revision,
  writeNotification,
} from "@patchbay/core";
import { ById } from "../by-id.ts";
import { ConnectionError } from "../errors.ts";
import type { Settings } from "../options.ts";
import { tell } from "../tell.ts";
import { HttpEndpoint, type HttpTarget } from "./http-endpoint.ts";
import { isSessionUnknown, networkFailure, refusal } from "./http-errors.ts";
import { POST_HEADERS, STREAM_HEADERS } from "./http-headers.ts";
import { eachMessage } from "./incoming.ts";
import { LegacyStream } from "./legacy-stream.ts";
import type { Reply, ReplyListener } from "./reply.ts";
import { openStandalone, type Standalone } from "./standalone.ts";
import { StreamPosition } from "./stream-position.ts";
import type { PostLimit, Receiver, RequestHead, Transport } from "./transport.ts";

/** An answer that will not come: nobody knows how far the server got. */
const LOST = { mayHaveRun: true };
/** Tries in a row to take up the stream of an answer that reach nobody: the instance is gone. */
const MAX_FAILURES = 3;

/** A request that has no answer yet. */
interface Sent {
  readonly id: number;
  readonly text: string;
  readonly head: RequestHead;
  reply: Reply | undefined;
  /** Where its answer is looked for after its own connection was lost. */
  stream: LegacyStream | undefined;
}

/** Requests as POSTs over a pool of connections to one origin. */
export class HttpTransport implements Transport {
  readonly serverName: string;
  readonly mirrorsParams = true;
  /** The last status that is no success, and no failure of the server's. */
  refusedWith: number | undefined;
  readonly #settings: Settings;
  readonly #endpoint: HttpEndpoint;
  readonly #inFlight = new ById<Sent>();
  #receiver!: Receiver;
  #revision: Revision | undefined;
  #revisionHeader: readonly string[] = [];
  #modern = true;
  #session: string | undefined;
  /** What the server tells us unasked; a modern one tells nothing so. */
  #standalone: Standalone | undefined;

  constructor(target: HttpTarget, settings: Settings) {
    this.#settings = settings;
    this.#endpoint = new HttpEndpoint(target, settings);
    this.serverName = this.#endpoint.serverName;
  }

  listen(receiver: Receiver): void {
    this.#receiver = receiver;
  }

  send(text: string, head: RequestHead): void {
    const sent: Sent = { id: head.id, text, head, reply: undefined, stream: undefined };
    this.#inFlight.add(sent);
    this.#dispatch(sent);
  }

  post(text: string, limit: PostLimit = "timeout"): Promise<void> {
    const session = this.#session;
    return this.#endpoint.withinTime(limit, (resolve, reject) => {
      const listener: ReplyListener = {
        onText() {},
        onEnd: resolve,
        onRefusal: (status, headers, body) => {
          if (this.#endpoint.follow(status, headers)) this.#post(text, undefined, listener);
          else {
            const why = refusal(this.serverName, status, headers, body);
            if (isSessionUnknown(status, body)) this.#lose(session, status, why);
            reject(why);
          }
        },
        onError: (error) => reject(networkFailure(this.serverName, error)),
      };
      return this.#post(text, undefined, listener);
    });
  }

  cancel(requestId: number, reason: string, notify: boolean): void {
    const sent = this.#inFlight.take(requestId);
    if (sent === undefined) return;
    // To a modern server the closed response says it all; a legacy one takes that for a broken connection.
    if (!this.#modern && notify) {
      this.post(writeNotification("notifications/cancelled", { requestId, reason })).catch(() => {
        // The request is given up whether the server hears of it or not.
      });
    }
    sent.reply?.abort();
    sent.stream?.close();
  }

  adopt(revision: Revision): void {
    this.#revision = revision;
    this.#modern = eraOf(revision) === "modern";
    // The header came with 2025-06-18.
    this.#revisionHeader = revision >= "2025-06-18" ? ["mcp-protocol-version", revision] : [];
  }

  probeExpired(): Promise<void> {
    // Silence is no sign of a legacy server here: there is a status and a body to tell by.
    return new Promise(() => {});
  }

  evidence(): string {
    return "";
  }

  /** Hears what a legacy server tells unasked, from now on. */
  async openStandalone(): Promise<void> {
    this.#standalone?.close();
    if (this.#revision === "2024-11-05") return;
    const session = this.#session;
    this.#standalone = openStandalone({
      serverName: this.serverName,
      get: (lastEventId, listener) => this.#get(lastEventId, listener),
      onText: (text) => this.#hear(text),
      onGap: () => this.#receiver.onGap(),
      onSessionLost: (status, why) => this.#lose(session, status, why),
      onLost: (why) => tell(this.#settings.onWarning, why),
      follow: (status, headers) => this.#endpoint.follow(status, headers),
    });
    await this.#standalone.ready;
  }

  async close(): Promise<void> {
    for (const { reply, stream } of this.#inFlight.all()) {
      reply?.abort();
      stream?.close();
    }
    this.#inFlight.clear();
    this.#standalone?.close();
    if (this.#session !== undefined) {
      await this.#endpoint.delete([...this.#revisionHeader, "mcp-session-id", this.#session]);
    }
    await this.#endpoint.close();
  }

  #dispatch(sent: Sent): void {
    const { head, text } = sent;
    const session = this.#session;
    let position: StreamPosition | undefined;
    const end = (error: Error) => {
      if (!this.#unanswered(sent)) return;
      if (!this.#modern && position?.lastEventId !== undefined) this.#resume(sent, position, session);
      else this.#fail(sent, error);
    };
    sent.reply = this.#post(text, head, {
      onHeaders: (headers) => {
        if (head.method === "initialize") this.#session = sessionOf(headers);
      },
      onText: (data, event) => {
        if (event?.id !== undefined && !this.#modern) {
          position ??= new StreamPosition();
          if (!position.take(event)) return;
        }
        if (data !== "") this.#hear(data, sent);
      },
      onRetry: (ms) => {
        position ??= new StreamPosition();
        position.retryAfter(ms);
      },
      onEnd: () =>
        end(new ConnectionError("closed", `${this.serverName} ended ${head.method} without an answer`, LOST)),
      onRefusal: (status, headers, body) => {
        if (!this.#unanswered(sent)) return;
        if (this.#endpoint.follow(status, headers)) {
          this.#dispatch(sent);
          return;
        }
        if (status < 500) this.refusedWith = status;
        const why = refusal(this.serverName, status, headers, body);
        if (session !== undefined && isSessionUnknown(status, body)) {
          this.#inFlight.take(head.id);
          this.#lose(session, status, why, head.id);
        } else {
          this.#fail(sent, why);
        }
      },
      onError: (error) => end(networkFailure(this.serverName, error)),
    });
  }

  /** Takes up the stream of a request's answer where it broke off. */
  #resume(sent: Sent, position: StreamPosition, session: string | undefined): void {
    const { method } = sent.head;
    const lost = (why: string) => {
      const what = `${this.serverName} ended ${method} without an answer, and ${why}`;
      return new ConnectionError("closed", what, LOST);
    };
    sent.stream = new LegacyStream(
      {
        get: (lastEventId, listener) => this.#get(lastEventId, listener),
        onText: (text) => this.#hear(text, sent),
        onRefusal: (status, _headers, body) => {
          if (status >= 500 || status === 429) return "again";
          const why = lost(`answered ${status} to who came back for it`);
          if (isSessionUnknown(status, body)) this.#lose(session, status, why);
          this.#fail(sent, why);
          return "over";
        },
        maxFailures: MAX_FAILURES,
        onBarren: (why) => this.#fail(sent, why ?? lost("has nothing to add to it")),
      },
      position,
    );
    sent.stream.openLater();
  }

  /**
   * Hands on what came in. On the stream of a request nothing but that request is answered; on the other one
   * no answer should come, but some servers send it there when its own stream is gone.
   */
  #hear(text: string, stream?: Sent): void {
    eachMessage(text, this.#revision, (message) => {
      if (!isAnswer(message)) {
        this.#receiver.onMessage(message, stream?.id);
        return;
      }
      const sent = stream ?? this.#inFlight.get((message as { id: number }).id);
      if (sent === undefined || !this.#unanswered(sent)) return;
      if (!this.#receiver.onMessage(message, sent.id)) return;
      this.#inFlight.take(sent.id);
      sent.reply?.finish();
      sent.stream?.finish();
    });
  }

  #unanswered(sent: Sent): boolean {
    return this.#inFlight.get(sent.id) === sent;
  }

  #fail(sent: Sent, error: Error): void {
    if (this.#inFlight.take(sent.id) === undefined) return;
    sent.stream?.close();
    this.#receiver.onFailure(sent.id, error);
  }

  #post(text: string, head: RequestHead | undefined, listener: ReplyListener): Reply {
    const headers = this.#headersFor(head);
    return head?.method === "subscriptions/listen"
      ? this.#endpoint.postForStream(headers, text, listener)
      : this.#endpoint.post(headers, text, listener);
  }

  #get(lastEventId: string | undefined, listener: ReplyListener): Reply {
    const headers = [...STREAM_HEADERS, ...this.#revisionHeader];
    if (this.#session !== undefined) headers.push("mcp-session-id", this.#session);
    if (lastEventId !== undefined) headers.push("last-event-id", lastEventId);
    return this.#endpoint.getStream(headers, listener);
  }

  /** What intermediaries may read without the body (streamable-http § Request Metadata). */
  #headersFor(head: RequestHead | undefined): string[] {
    const headers = [...POST_HEADERS];
    // Before a legacy session is open there is no revision to name.
    if (head?.method !== "initialize") {
      headers.push(...this.#revisionHeader);
      if (this.#session !== undefined) headers.push("mcp-session-id", this.#session);
    }
    if (this.#modern && head !== undefined) {
      headers.push("mcp-method", head.method);
      if (head.name !== undefined) headers.push("mcp-name", encodeHeaderValue(head.name));
      if (head.mirrored !== undefined) headers.push(...head.mirrored);
    }
    return headers;
  }

  /** The server has forgotten a session: that of a request, or of a stream. */
  #lose(session: string | undefined, status: number, refusal: Error, requestId?: number): void {
    if (session === undefined) return;
    const what = `${this.serverName} has lost the session`;
    const why = new ConnectionError("refused", what, { status, cause: refusal });
    this.#receiver.onSessionLost(why, requestId, this.#session !== session);
  }
}

function isAnswer({ kind }: Message | InvalidMessage): boolean {
  return kind !== "notification" && kind !== "request";
}

/** The session that a legacy server opened; only visible ASCII may be one (2025-11-25, § Session Management). */
function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  const session = headers["mcp-session-id"];
  return typeof session === "string" && /^[\x21-\x7e]{1,1024}$/.test(session) ? session : undefined;
}
