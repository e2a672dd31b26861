/** Legacy Streamable HTTP: POST, a GET stream, DELETE (2025-11-25, basic/transports § Streamable HTTP). */

import {
  ErrorCode,
  type ErrorMessage,
  type InvalidMessage,
  type Message,
  type NotificationMessage,
  ProtocolError,
  type RequestId,
  type RequestMessage,
  type ResultMessage,
} from "@patchbay/core";
import { type Answer, answer, errorAnswer, type Refusal } from "../../answer.ts";
import { atExpiry } from "../../auth/expiry.ts";
import type { Shares } from "../../auth/shares.ts";
import { Call, type Dialogue } from "../../exchange.ts";
import { EventBudget } from "../../legacy/event-budget.ts";
import { type EventId, parseEventId } from "../../legacy/event-id.ts";
import type { EventStream, EventStreamOptions, Sink } from "../../legacy/event-stream.ts";
import type { LiveLimits } from "../../legacy/live-session.ts";
import { LiveSessions } from "../../legacy/live-sessions.ts";
import { legacyReply } from "../../legacy/methods.ts";
import { Peers, tellLost } from "../../legacy/peers.ts";
import { pushDialogue } from "../../legacy/push.ts";
import { callerOf, initialize } from "../../legacy/session.ts";
import { tellChanges } from "../../legacy/subscriptions.ts";
import type { McpServer } from "../../server.ts";
import type { Resumed } from "../../sessions/instances.ts";
import { SessionEndedError, type SessionStore } from "../../sessions/store.ts";
import { batchError, serveBatch } from "./batch.ts";
import type { HttpExchange } from "./exchange.ts";
import { accepts } from "./headers.ts";
import { Outlet } from "./outlet.ts";
import { refuse, refuseMethod, refuseScopes, sendJson } from "./responses.ts";
import {
  type FindSession,
  type HttpSession,
  passingSessions,
  StoredSession,
  storedSessions,
} from "./session.ts";

export interface LegacyOptions extends LiveLimits {
  maxBufferedBytes: number;
  keepAlive: number;
  /** Messages in one batch. */
  maxBatch: number;
  /** Events of a stream that are kept to be sent again; 0 for none. */
  maxEvents: number;
  /** Characters of the events that all streams keep together. */
  maxKeptBytes: number;
  /** Resources that one session may subscribe to. */
  maxWatched: number | undefined;
  /** How many requests in flight, and streams of what is told unasked, each principal may have. */
  shares: { requests: Shares; streams: Shares };
}

/** Nothing can be asked before there is a session to answer in. */
const NO_DIALOGUE: Dialogue = {
  ask: () => Promise.reject(new Error("A session that is being opened cannot be asked anything")),
  step: async (_name, run) => run(),
};
const NO_SESSIONS = "this server keeps no sessions";

/** What is no request; an invalid message only as a response that cannot be read. */
type Told = NotificationMessage | ResultMessage | ErrorMessage | InvalidMessage;

export class LegacyEndpoint {
  readonly #server: McpServer;
  readonly #store: SessionStore | undefined;
  readonly #options: LegacyOptions;
  readonly #live: LiveSessions | undefined;
  readonly #peers: Peers | undefined;
  readonly #budget: EventBudget;
  readonly #find: FindSession;

  /** @param store nothing to serve each request alone */
  constructor(server: McpServer, store: SessionStore | undefined, options: LegacyOptions) {
    this.#server = server;
    this.#store = store;
    this.#options = options;
    this.#budget = new EventBudget(options.maxKeptBytes);
    if (store === undefined) {
      this.#find = passingSessions(options);
      return;
    }
    const { shared } = store;
    this.#live = new LiveSessions(store, {
      ...options,
      instance: shared?.id,
      takesAnswers: store.takesAnswers,
      // A session that is in use has to be asked for before its store takes it for idle.
      sweepEvery: Math.min(options.keepAlive, (store.idleMs ?? Number.POSITIVE_INFINITY) / 3),
      report: (thrown) => server.report(thrown, "sessions"),
    });
    if (shared !== undefined) {
      server.changes.share(shared);
      this.#peers = new Peers(shared, this.#live, {
        ended: (session, key) => void this.#end(session, key),
        takeOver: (session, gone, sink) => this.#takeOver(session, gone, sink),
        report: (thrown) => server.report(thrown, "sessions"),
      });
    }
    this.#find = storedSessions(store, this.#live, this.#peers);
  }

  /** How many sessions something goes on in. */
  get live(): number {
    return this.#live?.size ?? 0;
  }

  /** Characters of the events that its streams keep. */
  get kept(): number {
    return this.#budget.used;
  }

  /** Opens a session. */
  async initialize(message: RequestMessage, http: HttpExchange): Promise<void> {
    const { access } = http;
    const keeps = this.#store !== undefined;
    const { record, result } = initialize(this.#server, message.params, access.principal, keeps);
    const { id, method, params } = message;
    const call = new Call(
      callerOf(record, access),
      () => {},
      () => NO_DIALOGUE,
    );
    const work = () => this.#server.through(method, params, call, () => result);
    const opened = await new Promise<Answer>((resolve) =>
      answer(this.#server, call, id, method, work, resolve),
    );
    if (opened.errorCode === undefined) {
      const sessionId = await this.#store?.create(record);
      if (sessionId !== undefined) {
        http.setHeader("mcp-session-id", sessionId);
        this.#server.observer?.session?.("opened", sessionId);
      }
    }
    sendJson(http, 200, opened.text);
  }

  /** Answers a request: by JSON, unless something comes before the answer. At once, if its session is found at once. */
  request(message: RequestMessage, http: HttpExchange): void | Promise<void> {
    const found = this.#find(http, message.id);
    return found instanceof Promise
      ? found.then((session) => this.#requestIn(session, message, http))
      : this.#requestIn(found, message, http);
  }

  #requestIn(session: HttpSession | undefined, message: RequestMessage, http: HttpExchange): void {
    if (session === undefined) return;
    const outlet = this.#outlet(session, http, [message.id]);
    this.#answer(message, session, outlet, http, (text, refusal) => {
      if (text === undefined) outlet.close();
      else outlet.finish(text, refusal);
    });
  }

  /** Answers the requests of a batch together (2025-03-26, basic § Batching). */
  async batch(messages: readonly (Message | InvalidMessage)[], http: HttpExchange): Promise<void> {
    const session = await this.#find(http);
    if (session === undefined) return;
    const refused = batchError(messages.length, session.record.revision, this.#options.maxBatch);
    if (refused !== undefined) return sendJson(http, 400, refused);
    if (refuseScopes(this.#server, http, messages)) return;
    const requests = messages.filter((each): each is RequestMessage => each.kind === "request");
    const outlet = this.#outlet(
      session,
      http,
      requests.map(({ id }) => id),
    );
    const work = {
      answer: (message: RequestMessage) => this.#answerInBatch(message, session, outlet, http),
      take: (message: Told) => this.#take(message, session),
    };
    await serveBatch(messages, work, outlet, http);
  }

  /** Takes a notification, or the response to a request of ours. */
  async tell(message: Told, http: HttpExchange): Promise<void> {
    const session = await this.#find(http);
    if (session === undefined) return;
    if (await this.#take(message, session)) return http.respond(202);
    refuse(http, 400, "No request is waiting for this response");
  }

  /** Opens the stream of what a session is told unasked, or goes on with one that was lost. */
  async listen(http: HttpExchange): Promise<void> {
    if (this.#store === undefined) return refuseMethod(http, NO_SESSIONS, "POST, OPTIONS");
    if (!accepts(http.header("accept"), "text/event-stream")) {
      return refuse(http, 406, "Not acceptable: Accept must list text/event-stream");
    }
    const session = await this.#find(http);
    if (session === undefined) return;
    http.onOver(this.#options.shares.streams.take(http.access.principal));
    http.onOver(atExpiry(http.access, () => http.end()));
    const lastEventId = http.header("last-event-id");
    if (lastEventId !== undefined && lastEventId !== "") return this.#resume(session, lastEventId, http);
    await this.#connectStandalone(session, http, () => true);
  }

  /**
   * Sends what the session is told unasked over a connection, from now on. A stream of another instance ends.
   *
   * @param mayTake whether it may be taken from that instance
   * @throws SessionEndedError
   */
  async #connectStandalone(
    session: HttpSession,
    sink: Sink & { openStream?(): void },
    mayTake: (listener: string | undefined) => boolean,
  ): Promise<void> {
    const live = session.live();
    live.attach(sink);
    const own = this.#store?.shared?.id;
    const taken =
      own === undefined
        ? undefined
        : session.keep((record) => (mayTake(record.listener) ? { ...record, listener: own } : record));
    await Promise.all([taken, this.#server.changes.expectListener()]);
    // It may have been deleted meanwhile, or another instance been asked for the same.
    if (session.going !== live) throw new SessionEndedError();
    sink.openStream?.();
    if (!live.mayListen) return sink.end();
    const stream =
      live.standalone ??
      live.openStandalone(this.#streamOptions(session, []), (send) =>
        tellChanges(this.#server, () => live.record, send),
      );
    stream.connect(sink);
  }

  /** Goes on with what an instance that is gone has told a session unasked, if none does already. */
  async #takeOver(id: string, gone: string, sink: Sink): Promise<void> {
    const record = await this.#store?.get(id);
    if (record === undefined) return sink.end();
    const session = new StoredSession(
      id,
      record,
      this.#store as SessionStore,
      this.#live as LiveSessions,
      this.#peers,
    );
    await this.#connectStandalone(session, sink, (listener) => listener === undefined || listener === gone);
  }

  /** Ends a session. */
  async delete(http: HttpExchange): Promise<void> {
    if (this.#store === undefined) return refuseMethod(http, NO_SESSIONS, "POST, OPTIONS");
    const session = await this.#find(http);
    if (session?.id === undefined) return;
    const { id, record } = session;
    await this.#store.delete(id);
    this.#server.observer?.session?.("deleted", id);
    await Promise.all([this.#end(id, record.key), this.#peers?.ended(id, record.key)]);
    http.respond(204);
  }

  /** A session was deleted: what goes on in it here ends. */
  async #end(id: string, key: string | undefined): Promise<void> {
    this.#live?.drop(id, "the session was deleted");
    if (key !== undefined) await this.#server.tasks.end(key);
  }

  /** Ends the streams of what is told unasked; requests in flight are answered still. */
  end(): void {
    this.#live?.finish();
    this.#peers?.finish();
  }

  /** Ends what is left. */
  stop(): void {
    this.#live?.leaveAll("the server closed");
    this.#peers?.stop();
  }

  async #resume(session: HttpSession, lastEventId: string, http: HttpExchange): Promise<void> {
    const place = parseEventId(lastEventId);
    const resumed = place === undefined ? "unknown" : await this.#goOn(session, place, http);
    // This is how a client is told not to come back (HTML, server-sent events § Processing model).
    if (resumed === "over") http.respond(204);
    if (resumed !== "unknown") return;
    // A client that came back for an answer is to know that it will not get it.
    if (place !== undefined && place.requests.length > 0) {
      http.openStream();
      return tellLost(place.requests, http);
    }
    const what = "Last-Event-ID is not known, or more has come after it than is kept: the stream is lost";
    refuse(http, 400, what);
  }

  async #goOn(session: HttpSession, { stream: id, seq }: EventId, http: HttpExchange): Promise<Resumed> {
    const stream = session.going?.placeIn(id, seq);
    if (stream === undefined) {
      const open = () => http.openStream();
      return (await this.#peers?.resume(session.id as string, id, seq, http, open)) ?? "unknown";
    }
    if (stream.isOverAfter(seq)) return "over";
    session.live().attach(http);
    http.openStream();
    stream.resume(http, seq);
    return "goes on";
  }

  /**
   * @param respond is called once, with the answer's text, or with nothing when the request was cancelled
   * @throws ProtocolError when the session may not begin another request
   */
  #answer(
    message: RequestMessage,
    session: HttpSession,
    outlet: Outlet,
    http: HttpExchange,
    respond: (text: string | undefined, refusal?: Refusal) => void,
  ): void {
    const { requests } = this.#options.shares;
    const { principal } = http.access;
    requests.check(principal);
    session.going?.admit(message.id);
    const call = new Call(
      callerOf(session.record, http.access),
      (text) => outlet.send(text),
      (own) => pushDialogue(own, session.live().asked),
      session.id !== undefined && this.#options.maxEvents > 0
        ? (retryMs) => outlet.detach(retryMs)
        : undefined,
    );
    const work = () => legacyReply(this.#server, message, call, session, this.#options.maxWatched);
    let answered = false;
    let end = () => {};
    let giveBack = () => {};
    answer(this.#server, call, message.id, message.method, work, ({ text, refusal }) => {
      answered = true;
      call.finish();
      giveBack();
      if (!call.cancelled) respond(text, refusal);
      end();
    });
    if (answered) return;
    const live = session.live();
    end = live.begin(message.id, call, () => respond(undefined));
    giveBack = requests.take(principal);
    live.attach(http);
    // A client that goes away has not cancelled (2025-11-25, basic/transports § Sending Messages), unless it has
    // no session: then it can neither come back for the answer nor cancel.
    if (session.id === undefined) http.onOver(() => live.cancel(message.id));
  }

  /** What is wrong with one request of a batch is said in its place. */
  #answerInBatch(
    message: RequestMessage,
    session: HttpSession,
    outlet: Outlet,
    http: HttpExchange,
  ): Promise<string | undefined> {
    return new Promise((resolve) => {
      try {
        if (message.method === "initialize") {
          throw new ProtocolError(ErrorCode.InvalidRequest, "initialize may not be part of a batch");
        }
        this.#answer(message, session, outlet, http, resolve);
      } catch (thrown) {
        resolve(errorAnswer(callerOf(session.record).wire, message.id, thrown).text);
      }
    });
  }

  /** False for a response that nobody waits for. */
  #take(message: Told, { id, going }: HttpSession): boolean | Promise<boolean> {
    if (message.kind !== "notification") {
      if (going?.asked.settle(message)) return true;
      if (this.#peers === undefined || id === undefined || message.kind === "invalid") return false;
      return this.#peers.answer(id, message);
    }
    if (message.method !== "notifications/cancelled") return true;
    const { requestId, reason: said } = message.params;
    if (typeof requestId !== "string" && typeof requestId !== "number") return true;
    const reason = typeof said === "string" ? said : undefined;
    if (going?.cancel(requestId, reason) || this.#peers === undefined || id === undefined) return true;
    return this.#peers.cancel(id, requestId, reason).then(() => true);
  }

  #outlet(session: HttpSession, http: HttpExchange, requests: readonly RequestId[]): Outlet {
    return new Outlet(
      http,
      (): EventStream => session.live().openStream(this.#streamOptions(session, requests)),
    );
  }

  /** @param requests what the stream answers */
  #streamOptions(
    { id, record }: Pick<HttpSession, "id" | "record">,
    requests: readonly RequestId[],
  ): EventStreamOptions {
    const { maxEvents, maxBufferedBytes, keepAlive } = this.#options;
    const resumable = id !== undefined && maxEvents > 0;
    const primes = record.revision >= "2025-11-25";
    const events = this.#store?.shared?.events;
    const log =
      events === undefined || id === undefined
        ? undefined
        : (stream: string) => events.open(id, stream, requests);
    return { requests, resumable, primes, maxEvents, maxBufferedBytes, keepAlive, budget: this.#budget, log };
  }
}
