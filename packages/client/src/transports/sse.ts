/** HTTP+SSE, the transport of 2024-11-05: a GET for what comes in, which says where each message is to be POSTed. */

import { eraOf, type Revision, writeNotification } from "@patchbay/core";
import { ConnectionError, readable } from "../errors.ts";
import type { Settings } from "../options.ts";
import { HttpEndpoint, type HttpTarget } from "./http-endpoint.ts";
import { networkFailure, refusal } from "./http-errors.ts";
import { POST_HEADERS, STREAM_HEADERS } from "./http-headers.ts";
import { eachMessage } from "./incoming.ts";
import type { Reply, ReplyListener } from "./reply.ts";
import type { PostLimit, Receiver, RequestHead, Transport } from "./transport.ts";

export class SseTransport implements Transport {
  readonly serverName: string;
  readonly mirrorsParams = false;
  readonly #settings: Settings;
  readonly #endpoint: HttpEndpoint;
  #receiver!: Receiver;
  #stream: Reply | undefined;
  #revision: Revision | undefined;
  #revisionHeader: readonly string[] = [];
  /** Where messages go, once the server has said it. */
  #path: string | undefined;
  #early: (() => void)[] = [];
  #over = false;

  constructor(target: HttpTarget, settings: Settings) {
    this.#settings = settings;
    this.#endpoint = new HttpEndpoint(target, settings);
    this.serverName = this.#endpoint.serverName;
  }

  /** Whether the server began to speak HTTP+SSE. */
  get located(): boolean {
    return this.#path !== undefined;
  }

  listen(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#open();
    const { probeTimeout, authorization } = this.#settings;
    let timer: NodeJS.Timeout | undefined;
    const start = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (this.#path !== undefined) return;
        const what = `${this.serverName} did not say where to send messages within probeTimeout (${probeTimeout} ms)`;
        this.#end(new ConnectionError("not-mcp", what));
      }, probeTimeout).unref();
    };
    start();
    authorization?.onWait?.(() => {
      clearTimeout(timer);
      return start;
    });
  }

  send(text: string, { id }: RequestHead): void {
    const onTaken = () => {};
    this.#post(text, onTaken, (error) => this.#receiver.onFailure(id, error));
  }

  post(text: string, limit: PostLimit = "timeout"): Promise<void> {
    return this.#endpoint.withinTime(limit, (resolve, reject) => this.#post(text, resolve, reject));
  }

  #post(text: string, onTaken: () => void, onFailure: (error: Error) => void): Reply | undefined {
    const listener: ReplyListener = {
      // The answer comes by the stream; what is said here ("Accepted") is of no interest.
      onText() {},
      onEnd: onTaken,
      onRefusal: (status, headers, body) => onFailure(refusal(this.serverName, status, headers, body)),
      onError: (error) => {
        if (error instanceof ConnectionError && error.reason === "not-mcp") onTaken();
        else onFailure(networkFailure(this.serverName, error));
      },
    };
    const send = () =>
      this.#endpoint.post([...POST_HEADERS, ...this.#revisionHeader], text, listener, this.#path);
    if (this.#over)
      onFailure(new ConnectionError("closed", `The connection to ${this.serverName} is closed`));
    else if (this.#path === undefined) this.#early.push(send);
    else return send();
    return undefined;
  }

  cancel(requestId: number, reason: string, notify: boolean): void {
    if (!notify) return;
    this.post(writeNotification("notifications/cancelled", { requestId, reason })).catch(() => {
      // The request is given up whether the server hears of it or not.
    });
  }

  adopt(revision: Revision): void {
    this.#revision = revision;
    const named = revision >= "2025-06-18" && eraOf(revision) === "legacy";
    this.#revisionHeader = named ? ["mcp-protocol-version", revision] : [];
  }

  probeExpired(): Promise<void> {
    return new Promise(() => {});
  }

  evidence(): string {
    return "";
  }

  async close(): Promise<void> {
    this.#over = true;
    this.#stream?.abort();
    await this.#endpoint.close();
  }

  #open(): void {
    this.#stream = this.#endpoint.getStream(STREAM_HEADERS, {
      onText: (text, event) => {
        if (this.#path === undefined) this.#locate(event?.event, text);
        else if (text !== "" && (event?.event ?? "message") === "message") {
          eachMessage(text, this.#revision, (message) => this.#receiver.onMessage(message));
        }
      },
      onEnd: () => this.#end(new ConnectionError("closed", `${this.serverName} closed its stream of events`)),
      onRefusal: (status, headers, body) => {
        if (this.#endpoint.follow(status, headers)) this.#open();
        else this.#end(refusal(this.serverName, status, headers, body));
      },
      onError: (error) => this.#end(networkFailure(this.serverName, error)),
    });
  }

  /** The first event says where messages go. Elsewhere than on this origin our headers are nobody's business. */
  #locate(event: string | undefined, text: string): void {
    const path = event === "endpoint" ? this.#endpoint.pathTo(text) : undefined;
    if (path === undefined) {
      const wrong =
        event === "endpoint"
          ? `wants messages sent to ${readable(text, 200)}, which is not on its own origin`
          : "does not begin its stream with an endpoint event";
      return this.#end(new ConnectionError("not-mcp", `${this.serverName} ${wrong}`));
    }
    this.#path = path;
    for (const send of this.#early.splice(0)) send();
  }

  #end(cause: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream?.abort();
    this.#receiver.onClose(cause);
  }
}
