/** The stream of what a legacy server tells unasked (2025-11-25, basic/transports § Listening for Messages). */

import { ConnectionError } from "../errors.ts";
import { isSessionUnknown } from "./http-errors.ts";
import { LegacyStream, type LegacyStreamHost } from "./legacy-stream.ts";
import { StreamPosition } from "./stream-position.ts";

/** Milliseconds that connecting waits for the server to answer. */
const PATIENCE = 1_000;

/** What the stream needs of its transport. */
export interface StandaloneHost {
  readonly serverName: string;
  readonly get: LegacyStreamHost["get"];
  readonly onText: (text: string) => void;
  /** What came between two streams was missed. */
  readonly onGap: () => void;
  /** The session that it belonged to is not known any more. */
  readonly onSessionLost: (status: number, why: ConnectionError) => void;
  /** It was there, and will not be again. */
  readonly onLost: (why: ConnectionError) => void;
  readonly follow: (status: number, headers: Parameters<LegacyStreamHost["onRefusal"]>[1]) => boolean;
}

export interface Standalone {
  /**
   * Resolves when the server has answered, so that what it tells from then on is not missed; one that takes its time
   * is not waited for.
   */
  readonly ready: Promise<void>;
  close(): void;
}

/** Opens the stream; not every server has one. */
export function openStandalone(host: StandaloneHost): Standalone {
  const position = new StreamPosition();
  let onAnswer = () => {};
  let opened = false;
  const lost = (why: string, reason: ConnectionError["reason"] = "closed") =>
    host.onLost(new ConnectionError(reason, `${why}; what it tells unasked is not heard any more`));
  const stream = new LegacyStream(
    {
      get: (lastEventId, listener) =>
        host.get(lastEventId, {
          ...listener,
          onHeaders: (headers) => {
            listener.onHeaders?.(headers);
            onAnswer();
            // A stream that goes on after an event brings what was missed.
            if (opened && lastEventId === undefined) host.onGap();
            opened = true;
          },
          onError: (error) => {
            onAnswer();
            listener.onError(error);
          },
        }),
      onText: host.onText,
      onRefusal: (status, headers, body) => {
        onAnswer();
        if (host.follow(status, headers) || status >= 500 || status === 429) return "again";
        if (opened && isSessionUnknown(status, body)) {
          const why = new ConnectionError("refused", `${host.serverName} answered ${status}`, { status });
          host.onSessionLost(status, why);
          return "over";
        }
        if (position.lastEventId !== undefined && status === 400) {
          // The server does not know the place any more.
          position.forget();
          return "again";
        }
        // Most often 405 at once: it has none, and need not have one.
        if (opened) lost(`${host.serverName}: it answered ${status} to who came back to its stream`);
        return "over";
      },
      onBarren: (why) =>
        lost(why?.message ?? `${host.serverName}: its stream ends before it tells anything`, why?.reason),
    },
    position,
  );
  const ready = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, PATIENCE);
    onAnswer = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  stream.open();
  return { ready, close: () => stream.close() };
}
