/** Legacy sessions that several instances serve: what this one says to the others about them, and hears from them. */

import {
  ErrorCode,
  type ErrorMessage,
  type JsonValue,
  ProtocolError,
  type RequestId,
  type ResultMessage,
  sseEvent,
  sseEventWithId,
  writeError,
} from "@patchbay/core";
import type { InstanceMessage, Instances, LoggedStream, Resumed } from "../sessions/instances.ts";
import { DistantSink } from "./distant-sink.ts";
import { eventIdPrefix } from "./event-id.ts";
import type { Sink } from "./event-stream.ts";
import type { LiveSession } from "./live-session.ts";
import type { LiveSessions } from "./live-sessions.ts";

/** What a client is told whose request was being answered by an instance that is gone, as is what it had sent. */
const INSTANCE_GONE = {
  code: ErrorCode.InternalError,
  message:
    "The instance of this server that was carrying out the request is gone, or has not kept what it sent so far; " +
    "how far the request came is not known. " +
    "Send the request again if doing it twice does no harm",
};

/** Characters of what a client says that all instances are told. */
const MAX_TOLD = 1024;

/** A client's connection over which another instance sends a stream. */
interface Carried {
  readonly instance: string;
  readonly session: string;
  readonly stream: string;
  readonly sink: Sink;
  /** Of the last event that was sent over it. */
  seq: number;
  /** Whether the instance has said that it sends the stream. */
  goesOn: boolean;
}

/** What the endpoint does with what it hears. */
interface PeersOptions {
  /** A session was deleted elsewhere. */
  ended(session: string, key: string | undefined): void;
  /** A client's stream of what it is told unasked was sent by an instance that is gone: it goes on from here. */
  takeOver(session: string, gone: string, sink: Sink): Promise<void>;
  report(error: unknown): void;
}

export class Peers {
  readonly #instances: Instances;
  readonly #live: LiveSessions;
  readonly #options: PeersOptions;
  /** By names that mean something here. */
  readonly #carried = new Map<string, Carried>();
  /** Connections that others carry for us, by their instance and their name there. */
  readonly #distant = new Map<string, DistantSink>();
  /** Those that something could not be sent over, until whoever has them is told. */
  readonly #cut = new Map<string, { instance: string; connection: string }>();
  readonly #stop: (() => void)[];

  constructor(instances: Instances, live: LiveSessions, options: PeersOptions) {
    this.#instances = instances;
    this.#live = live;
    this.#options = options;
    this.#stop = [
      instances.listen((message, from) => this.#hear(message, from)),
      instances.onGone((instance) => this.#gone(instance)),
      instances.onBack(() => this.#tellCut()),
    ];
  }

  /** Hands a client's answer to the instance that asked; false when that does not wait for it. */
  async answer(session: string, message: ResultMessage | ErrorMessage): Promise<boolean> {
    const instance = instanceIn(message.id);
    if (instance === undefined || instance === this.#instances.id) return false;
    return (await this.#instances.ask(instance, { kind: "answer", session, message })) === true;
  }

  /** A request that is not in flight here is cancelled wherever it is. */
  async cancel(session: string, id: RequestId, said: string | undefined): Promise<void> {
    // All are told: what one client says must not drown them.
    if (String(id).length > MAX_TOLD) return;
    const reason = said?.slice(0, MAX_TOLD);
    await this.#instances.tellAll({ kind: "cancel", session, id, ...(reason !== undefined && { reason }) });
  }

  async ended(session: string, key: string | undefined): Promise<void> {
    await this.#instances.tellAll({ kind: "ended", session, ...(key !== undefined && { key }) });
  }

  async changed(session: string, record: LiveSession["record"]): Promise<void> {
    await this.#instances.tellAll({ kind: "record", session, record });
  }

  /**
   * Goes on with a stream of another instance, or with what is kept of it when that is gone.
   *
   * @param open begins the response; it is called when the stream goes on
   */
  async resume(
    session: string,
    stream: string,
    after: number,
    sink: Sink,
    open: () => void,
  ): Promise<Resumed> {
    const instance = instanceIn(stream);
    if (instance === undefined || instance === this.#instances.id) return "unknown";
    const connection = crypto.randomUUID();
    let opened = false;
    const begin = () => {
      if (!opened) open();
      opened = true;
    };
    // What the stream sends may come before the answer does: the response has to have begun by then.
    const carried: Carried = {
      instance,
      session,
      stream,
      seq: after,
      goesOn: false,
      sink: {
        write: (text) => {
          begin();
          return sink.write(text);
        },
        end: () => {
          begin();
          sink.end();
        },
        destroy: () => sink.destroy(),
        onOver: (listener) => sink.onOver(listener),
      },
    };
    this.#carried.set(connection, carried);
    sink.onOver(() => this.#lose(connection));
    let resumed: JsonValue | undefined;
    try {
      resumed = await this.#instances.ask(instance, { kind: "resume", session, stream, after, connection });
    } catch (thrown) {
      this.#carried.delete(connection);
      throw thrown;
    }
    if (resumed === "goes on") {
      carried.goesOn = true;
      begin();
      return resumed;
    }
    this.#carried.delete(connection);
    if (resumed === "over") return resumed;
    // It may only have been slow to answer.
    if (resumed === undefined) this.#instances.tell(instance, { kind: "lost", connection }).catch(() => {});
    const logged = await this.#instances.events.read(session, stream, carried.seq);
    if (logged === undefined) return "unknown";
    if (logged.finished && logged.events.length === 0) return "over";
    begin();
    await this.#goOnWith(carried, logged);
    return "goes on";
  }

  /** Ends the connections that are carried for others: their clients come back to another instance. */
  finish(): void {
    for (const { sink } of this.#carried.values()) sink.end();
  }

  stop(): void {
    this.finish();
    for (const stop of this.#stop) stop();
  }

  #hear(message: InstanceMessage, from: string): JsonValue | undefined {
    switch (message.kind) {
      case "answer":
        return this.#live.get(message.session)?.asked.settle(message.message) ?? false;
      case "cancel":
        this.#live.get(message.session)?.cancel(message.id, message.reason);
        return undefined;
      case "ended":
        this.#options.ended(message.session, message.key);
        return undefined;
      case "record":
        this.#live.refresh(message.session, message.record);
        return undefined;
      case "resume":
        return this.#serve(message, from);
      case "lost":
        this.#distant.get(`${from} ${message.connection}`)?.lose();
        return undefined;
      case "write":
        return this.#write(message, from);
      case "cut":
        this.#carried.get(message.connection)?.sink.destroy();
        return undefined;
      case "close": {
        const carried = this.#carried.get(message.connection);
        this.#carried.delete(message.connection);
        carried?.sink.end();
        return undefined;
      }
      default:
        return undefined;
    }
  }

  /** Sends a stream of ours over a connection of another instance. */
  #serve(
    { session, stream, after, connection }: InstanceMessage & { kind: "resume" },
    from: string,
  ): Resumed {
    const live = this.#live.get(session);
    const place = live?.placeIn(stream, after);
    if (live === undefined || place === undefined) return "unknown";
    if (place.isOverAfter(after)) return "over";
    const name = `${from} ${connection}`;
    const tell = async (message: InstanceMessage): Promise<void> => {
      try {
        await this.#instances.tell(from, message);
      } catch (thrown) {
        this.#cut.set(name, { instance: from, connection });
        throw thrown;
      }
    };
    const sink = new DistantSink(tell, connection);
    sink.onOver(() => this.#distant.delete(name));
    this.#distant.set(name, sink);
    live.attach(sink);
    place.resume(sink, after);
    return "goes on";
  }

  #write({ connection, text, seq }: InstanceMessage & { kind: "write" }, from: string): undefined {
    const carried = this.#carried.get(connection);
    // Whoever sends it has missed that it is over.
    if (carried === undefined) {
      this.#instances.tell(from, { kind: "lost", connection }).catch(() => {});
      return;
    }
    if (seq !== undefined) carried.seq = seq;
    if (carried.sink.write(text) > this.#live.maxBufferedBytes) carried.sink.destroy();
  }

  /** The client has gone. */
  #lose(connection: string): void {
    const carried = this.#carried.get(connection);
    if (carried === undefined) return;
    this.#carried.delete(connection);
    this.#instances.tell(carried.instance, { kind: "lost", connection }).catch(() => {});
  }

  #tellCut(): void {
    for (const [name, { instance, connection }] of [...this.#cut]) {
      this.#cut.delete(name);
      this.#instances.tell(instance, { kind: "cut", connection }).catch(() => {
        this.#cut.set(name, { instance, connection });
      });
    }
  }

  #gone(instance: string | undefined): void {
    for (const [name, cut] of [...this.#cut]) if (cut.instance === instance) this.#cut.delete(name);
    for (const [name, sink] of [...this.#distant]) {
      const [holder, connection] = name.split(" ") as [string, string];
      if (instance !== undefined && instance !== holder) continue;
      sink.lose();
      if (instance === undefined) this.#cut.set(name, { instance: holder, connection });
    }
    for (const [connection, carried] of [...this.#carried]) {
      if (!carried.goesOn) continue;
      if (instance === undefined) {
        // Something may have been missed: the client comes back for it.
        this.#carried.delete(connection);
        carried.sink.destroy();
      } else if (carried.instance === instance) {
        this.#carried.delete(connection);
        void this.#bury(carried);
      }
    }
  }

  /** Sends what is left of a stream whose instance is gone. */
  async #bury(carried: Carried): Promise<void> {
    try {
      const logged = await this.#instances.events.read(carried.session, carried.stream, carried.seq);
      if (logged === undefined) carried.sink.destroy();
      else await this.#goOnWith(carried, logged);
    } catch (thrown) {
      this.#options.report(thrown);
      carried.sink.destroy();
    }
  }

  /** The response has begun: whatever fails, its client is not left waiting. */
  async #goOnWith(carried: Carried, logged: LoggedStream): Promise<void> {
    try {
      await this.#replay(carried, logged);
    } catch (thrown) {
      if (!(thrown instanceof ProtocolError)) this.#options.report(thrown);
      carried.sink.destroy();
    }
  }

  async #replay(
    { instance, session, stream, sink }: Carried,
    { events, finished, requests }: LoggedStream,
  ): Promise<void> {
    const prefix = eventIdPrefix(stream, requests);
    for (const { seq, text } of events) sink.write(sseEventWithId(prefix + seq, text));
    if (!finished && requests.length === 0) return this.#options.takeOver(session, instance, sink);
    if (finished) sink.end();
    else tellLost(requests, sink);
  }
}

/** Ends a stream that cannot be gone on with, with errors for the requests whose answers it was to bring. */
export function tellLost(requests: readonly RequestId[], sink: Sink): void {
  for (const id of requests) sink.write(sseEvent(writeError(id, INSTANCE_GONE)));
  sink.end();
}

/** Our ids begin with the instance that made them, where there may be several. */
function instanceIn(id: RequestId | undefined): string | undefined {
  return typeof id === "string" ? /^([a-z\d]+)-[a-z\d]+-\d+$/.exec(id)?.[1] : undefined;
}
