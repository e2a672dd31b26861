/** Legacy sessions over HTTP: POST, a GET stream, DELETE (2025-11-25, basic/transports § Streamable HTTP). */

import {
  type ErrorMessage,
  type InvalidMessage,
  isRevision,
  LATEST_LEGACY,
  LEGACY_REVISIONS,
  limitError,
  type Message,
  NO_BATCHES,
  type NotificationMessage,
  type RequestId,
  type RequestMessage,
  type ResultMessage,
  type Revision,
  writeError,
} from "@patchbay/core";
import { answer } from "../../answer.ts";
import { Call } from "../../exchange.ts";
import type { EventStream, EventStreamOptions } from "../../legacy/event-stream.ts";
import { LiveSession } from "../../legacy/live-session.ts";
import { legacyReply } from "../../legacy/methods.ts";
import { pushDialogue } from "../../legacy/push.ts";
import { callerOf, initialize, type SessionRecord, strangerSession } from "../../legacy/session.ts";
import { tellChanges } from "../../legacy/subscriptions.ts";
import type { McpServer } from "../../server.ts";
import type { SessionStore } from "../../sessions/store.ts";
import type { HttpExchange } from "./exchange.ts";
import { accepts } from "./headers.ts";
import { refuse, sendJson } from "./responses.ts";

export interface LegacyOptions {
  /** Milliseconds that a client is given to answer a request of ours. */
  answerTimeout: number | undefined;
  maxBufferedBytes: number;
  keepAlive: number;
  /** Messages in one batch. */
  maxBatch: number;
  /** Events of a stream that are kept to be sent again; 0 for none. */
  maxEvents: number;
}

/** The session that a request belongs to. */
interface Session {
  /** Empty where sessions are not kept. */
  id: string;
  record: SessionRecord;
}

export class LegacyEndpoint {
  readonly #server: McpServer;
  readonly #sessions: SessionStore | undefined;
  readonly #options: LegacyOptions;
  // What another request of the same session has to find.
  readonly #live = new Map<string, LiveSession>();

  /** @param sessions nothing to serve each request alone */
  constructor(server: McpServer, sessions: SessionStore | undefined, options: LegacyOptions) {
    this.#server = server;
    this.#sessions = sessions;
    this.#options = options;
  }

  /** Opens a session. */
  async initialize(message: RequestMessage, http: HttpExchange): Promise<void> {
    const { record, result } = initialize(this.#server, message.params, this.#sessions !== undefined);
    const id = await this.#sessions?.create(record);
    if (id !== undefined) http.setHeader("mcp-session-id", id);
    const opened = await answer(
      this.#server,
      callerOf(record).wire,
      message.id,
      message.method,
      () => result,
    );
    sendJson(http, 200, opened.text);
  }

  /** Answers a request: by JSON, unless something comes before the answer. */
  async request(message: RequestMessage, http: HttpExchange): Promise<void> {
    const session = await this.#find(http, message.id);
    if (session === undefined) return;
    const outlet = this.#outlet(session, http);
    const text = await this.#answer(message, session, outlet);
    if (text === undefined) outlet.close();
    else outlet.finish(text);
  }

  /** Answers the requests of a batch together (2025-03-26, basic § Batching). */
  async batch(messages: readonly (Message | InvalidMessage)[], http: HttpExchange): Promise<void> {
    const session = await this.#find(http);
    if (session === undefined) return;
    if (session.record.revision !== "2025-03-26") {
      return sendJson(http, 400, writeError(undefined, NO_BATCHES.error));
    }
    const { maxBatch } = this.#options;
    if (messages.length > maxBatch) {
      throw limitError(
        "maxBatch",
        `the batch has more messages than maxBatch allows (${maxBatch})`,
        maxBatch,
      );
    }
    const outlet = this.#outlet(session, http);
    const answers = await Promise.all(
      messages.map((message) => {
        if (message.kind === "request") return this.#answer(message, session, outlet);
        if (message.kind === "invalid") return writeError(message.id, message.error);
        this.#take(message, session);
        return undefined;
      }),
    );
    const texts = answers.filter((text) => text !== undefined);
    if (texts.length > 0) outlet.finish(`[${texts.join(",")}]`);
    else if (messages.some(({ kind }) => kind === "request")) outlet.close();
    else http.respond(202);
  }

  /** Takes a notification, or the response to a request of ours. */
  async tell(message: NotificationMessage | ResultMessage | ErrorMessage, http: HttpExchange): Promise<void> {
    const session = await this.#find(http);
    if (session === undefined) return;
    if (this.#take(message, session)) return http.respond(202);
    refuse(http, 400, "No request is waiting for this response");
  }

  /** Opens the stream of what a session is told unasked, or goes on with one that was lost. */
  async listen(http: HttpExchange): Promise<void> {
    if (this.#sessions === undefined)
      return refuse(http, 405, "This server keeps no sessions, so it has no stream");
    if (!accepts(http.header("accept"), "text/event-stream")) {
      return refuse(http, 406, "Not acceptable: Accept must list text/event-stream");
    }
    const session = await this.#find(http);
    if (session === undefined) return;
    const live = this.#liveOf(session);
    const lastEventId = http.header("last-event-id");
    if (lastEventId !== undefined && lastEventId !== "") {
      const sink = new LateSink(http);
      if (live.resume(lastEventId, sink)) return sink.open();
      live.settle();
      return refuse(
        http,
        400,
        "Last-Event-ID is not known, or too much has come after it: the stream is lost",
      );
    }
    const stream = live.standalone ?? this.#openStandalone(session, live);
    http.openStream();
    stream.connect(http);
    this.#keepSessionAlive(session.id, stream, http);
  }

  /** Ends a session. */
  async delete(http: HttpExchange): Promise<void> {
    const session = await this.#find(http);
    if (session === undefined) return;
    if (this.#sessions === undefined) return refuse(http, 405, "This server keeps no sessions");
    await this.#sessions.delete(session.id);
    this.#drop(session.id);
    http.respond(204);
  }

  /** Ends all streams. */
  end(): void {
    for (const id of [...this.#live.keys()]) this.#drop(id);
  }

  /** @returns the answer's text, or nothing when the request was cancelled */
  async #answer(message: RequestMessage, session: Session, outlet: Outlet): Promise<string | undefined> {
    const { record } = session;
    const caller = callerOf(record);
    // A client that goes away has not cancelled (2025-11-25, basic/transports § Sending Messages).
    const call = new Call(
      caller,
      (text) => outlet.send(text),
      (own) => pushDialogue(own, this.#liveOf(session).asked),
      (retryMs) => outlet.detach(retryMs),
    );
    const keep = (change: Partial<SessionRecord>) => {
      const changed = { ...record, ...change };
      const live = this.#live.get(session.id);
      if (live !== undefined) live.record = changed;
      return this.#sessions?.update(session.id, changed);
    };
    const pending = answer(this.#server, caller.wire, message.id, message.method, () =>
      legacyReply(this.#server, message, call, { record, keep }),
    );
    if (pending instanceof Promise && session.id !== "") this.#track(session, message.id, call, pending);
    const { text } = await pending;
    if (call.cancelled) return undefined;
    call.finish();
    return text;
  }

  #take(message: NotificationMessage | ResultMessage | ErrorMessage, { id }: Session): boolean {
    const live = this.#live.get(id);
    if (message.kind !== "notification") return live?.asked.settle(message) ?? false;
    if (message.method === "notifications/cancelled") {
      const { requestId, reason } = message.params;
      live?.calls.get(requestId as RequestId)?.cancel(typeof reason === "string" ? reason : undefined);
    }
    return true;
  }

  #outlet(session: Session, http: HttpExchange): Outlet {
    return new Outlet(http, () => {
      const live = this.#liveOf(session);
      const stream = live.openStream(this.#streamOptions(session));
      return { stream, retire: () => live.retire(stream) };
    });
  }

  #openStandalone(session: Session, live: LiveSession): EventStream {
    const stream = live.openStream(this.#streamOptions(session));
    live.standalone = stream;
    live.untell = tellChanges(
      this.#server,
      () => live.record,
      (text) => stream.send(text),
    );
    return stream;
  }

  #streamOptions({ id, record }: Session): EventStreamOptions {
    const { maxEvents, maxBufferedBytes, keepAlive } = this.#options;
    const resumable = id !== "" && maxEvents > 0;
    return { resumable, primes: record.revision >= "2025-11-25", maxEvents, maxBufferedBytes, keepAlive };
  }

  /** A session with an open stream is not idle; one that has ended elsewhere has no stream. */
  #keepSessionAlive(id: string, stream: EventStream, http: HttpExchange): void {
    const timer = setInterval(async () => {
      if (!stream.connected) return clearInterval(timer);
      if ((await this.#sessions?.get(id)) === undefined) this.#drop(id);
    }, this.#options.keepAlive);
    http.onOver(() => clearInterval(timer));
  }

  #track(session: Session, id: RequestId, call: Call, pending: Promise<unknown>): void {
    const live = this.#liveOf(session);
    if (live.calls.has(id)) return;
    live.calls.set(id, call);
    void pending.then(() => {
      live.calls.delete(id);
      live.settle();
    });
  }

  #liveOf({ id, record }: Session): LiveSession {
    let live = this.#live.get(id);
    if (live === undefined) {
      const made = new LiveSession(record, this.#options.answerTimeout, () => {
        if (this.#live.get(id) === made) this.#live.delete(id);
      });
      live = made;
      this.#live.set(id, live);
    }
    live.record = record;
    return live;
  }

  #drop(id: string): void {
    this.#live.get(id)?.end();
    this.#live.delete(id);
  }

  /** The session of a request; without one the response is sent and nothing is given. */
  async #find(http: HttpExchange, requestId?: RequestId): Promise<Session | undefined> {
    const version = http.header("mcp-protocol-version");
    if (version !== undefined && !LEGACY_REVISIONS.some((known) => known === version)) {
      const known = LEGACY_REVISIONS.join(", ");
      refuse(
        http,
        400,
        `Unsupported MCP-Protocol-Version: ${version.slice(0, 64)}; supported: ${known}`,
        requestId,
      );
      return undefined;
    }
    if (this.#sessions === undefined) return { id: "", record: strangerSession(statelessRevision(version)) };
    const id = http.header("mcp-session-id");
    if (id === undefined) {
      refuse(
        http,
        400,
        'No session: send "initialize" first and repeat its Mcp-Session-Id header',
        requestId,
      );
      return undefined;
    }
    const found = this.#sessions.get(id);
    const record = found instanceof Promise ? await found : found;
    if (record === undefined) {
      this.#drop(id);
      refuse(http, 404, "Session not found: it has ended; initialize again", requestId);
      return undefined;
    }
    return { id, record };
  }
}

/** Without a session the header says the version; clients older than the header are of 2025-03-26. */
function statelessRevision(version: string | undefined): Revision {
  return isRevision(version) ? version : version === undefined ? "2025-03-26" : LATEST_LEGACY;
}

/** Where the messages of one POST go: a JSON body, or a stream from the first that comes before the answer. */
class Outlet {
  readonly #http: HttpExchange;
  readonly #open: () => { stream: EventStream; retire: () => void };
  #opened: { stream: EventStream; retire: () => void } | undefined;

  constructor(http: HttpExchange, open: () => { stream: EventStream; retire: () => void }) {
    this.#http = http;
    this.#open = open;
  }

  send(text: string): void {
    this.#begin().send(text);
  }

  finish(text: string): void {
    if (this.#opened === undefined) return sendJson(this.#http, 200, text);
    this.#opened.stream.finish(text);
    this.#opened.retire();
  }

  /** Ends without an answer: the request was cancelled. */
  close(): void {
    if (this.#opened === undefined) return this.#http.respond(204);
    this.#opened.stream.end();
    this.#opened.retire();
  }

  detach(retryMs: number): void {
    this.#begin().detach(retryMs);
  }

  #begin(): EventStream {
    if (this.#opened === undefined) {
      this.#opened = this.#open();
      this.#http.openStream();
      this.#opened.stream.connect(this.#http);
    }
    return this.#opened.stream;
  }
}

/** Holds what is sent again until it is known that there is something to go on with. */
class LateSink {
  readonly #http: HttpExchange;
  #text = "";
  #ended = false;
  #open = false;

  constructor(http: HttpExchange) {
    this.#http = http;
  }

  open(): void {
    this.#open = true;
    this.#http.openStream();
    if (this.#text !== "") this.#http.write(this.#text);
    if (this.#ended) this.#http.end();
  }

  write(text: string): number {
    if (this.#open) return this.#http.write(text);
    this.#text += text;
    return 0;
  }

  end(): void {
    this.#ended = true;
    if (this.#open) this.#http.end();
  }

  destroy(): void {
    this.#http.destroy();
  }

  onOver(listener: () => void): void {
    this.#http.onOver(listener);
  }
}
