/** What a caller may choose, and what holds when nothing was chosen. */

import {
  type Era,
  type Implementation,
  type JsonObject,
  type LoggingLevel,
  type LogMessage,
  type Progress,
  TASKS_EXTENSION,
  type Task,
} from "@patchbay/core";
import type { AnswerOptions } from "./answers.ts";
import type { ConnectionError } from "./errors.ts";
import type { Middleware } from "./middleware.ts";
import type { Auth } from "./oauth/options.ts";
import type { Authorization } from "./transports/authorized.ts";
import type { OnMessage } from "./transports/observed.ts";

/** Options of one request. */
export interface RequestOptions {
  /** Cancels the request; it rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds without an answer or progress. Default: the connection's `timeout`. */
  timeout?: number;
  /** Milliseconds in all, whatever progress there is. Default: the connection's `maxTimeout`. */
  maxTimeout?: number;
  /** Asks for progress, and is told of it (basic/patterns/progress). */
  onProgress?: (progress: Progress) => void;
  /**
   * Is told what the server logs for this request. Over stdio a log message does not say which request it
   * belongs to: there it is told all that is logged while the request is in flight.
   */
  onLog?: (message: LogMessage) => void;
  /** The least severe level to be told. Default: the connection's, or `info` when there is an `onLog`. */
  logLevel?: LoggingLevel;
  /** Asks the server though a result is at hand that it allowed to use again. */
  refresh?: boolean;
  /**
   * Rejects with an InputRequiredError where a modern server asks for input, instead of asking the callbacks. A legacy
   * server's questions, and a task's, go to the callbacks all the same: they are lost with the connection.
   */
  suspend?: boolean;
}

/** How a call goes on that asked for input (basic/patterns/mrtr). */
export interface Continuation {
  inputResponses?: JsonObject;
  requestState?: string | undefined;
}

/** Options of a call of a tool, which may go on as a task where the client takes tasks. */
export interface CallOptions extends RequestOptions {
  /** Is told of a task when its status or its message changes. */
  onStatus?: (task: Task) => void;
  /** Milliseconds to wait for a task's result. Default: the connection's `maxTaskTime`. */
  maxTaskTime?: number;
  /** Goes on with a call that was suspended; its name and arguments are given again. */
  continuation?: Continuation;
  /** Milliseconds for which the server should keep the task; only in 2025-11-25 can it be asked to. */
  ttl?: number;
}

/** Options of a connection. */
export interface ConnectOptions extends AnswerOptions {
  /** Who we say we are. */
  clientInfo?: Implementation;
  /** `auto` finds out; the others skip that and fail where they do not fit. Default `auto`. */
  era?: "auto" | Era;
  /** Who asks, for a server behind a URL: a token, what gives one, or how to get one by OAuth. Default: nobody. */
  auth?: Auth;
  /** Stands around each request, the first outermost; `@patchbay/client/telemetry` has one that makes spans. */
  middleware?: readonly Middleware[];
  /** Gives up connecting; `connect` rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Milliseconds to connect in, from start to ready. Default 60,000. */
  connectTimeout?: number;
  /**
   * Milliseconds that a server process may leave the first question of a modern client unanswered before it
   * is asked again as a legacy server. They count from its first output; while it is wholly silent it has
   * three times as long, for it may still be starting. Default 3,000.
   */
  probeTimeout?: number;
  /** Milliseconds that a request may go without an answer or progress. Default 60,000. */
  timeout?: number;
  /** Milliseconds that a request may take in all. Default 600,000. */
  maxTimeout?: number;
  /** Milliseconds to wait for the result of a call that goes on as a task, in all. Default 24 hours. */
  maxTaskTime?: number;
  /**
   * Times in a row that a server process which died is started again, or a stream of HTTP+SSE opened; one that lasts
   * for a minute is a new beginning. 0: never, the connection ends with it. Default 5.
   */
  maxRestarts?: number;
  /** Times that one request is sent again because the server wants it to be later (`Retry-After`). Default 10. */
  maxRetries?: number;
  /** Milliseconds; a server that wants a request to be sent later than that has it rejected. Default 60,000. */
  maxRetryAfter?: number;
  /** Milliseconds that a server has for each step of closing: by itself, by SIGTERM, by SIGKILL. Default 2,000. */
  closeTimeout?: number;
  /** The least severe level of log messages to ask for. Default: `info` when there is an `onLog`, else none. */
  logLevel?: LoggingLevel;
  /** Is told each log message of the server. */
  onLog?: (message: LogMessage) => void;
  /** Is told when the user is done with a page that `onElicit` was asked to show (2025-11-25 only). */
  onElicitComplete?: (elicitationId: string) => void;
  /**
   * Is told that what the server kept for this client is gone, with its session or its process, and why. A new one is
   * open, subscriptions are on their way; calls made in here come before those that waited.
   */
  onSessionLost?: (why: ConnectionError) => void;
  /** Is told what went wrong without failing a request: a tool that had to be left out, a callback that threw. */
  onWarning?: (warning: Error) => void;
  /** Is told each message that goes over the connection, both ways, while connecting too; it costs nothing where it is not given. */
  onMessage?: OnMessage;
  /** Is told each line that a server process writes to stderr, free of control characters. */
  onStderr?: (line: string) => void;
  /** Is told each line on a server process's stdout that is no MCP message; it is passed over. */
  onStrayOutput?: (line: string) => void;
  /** Bytes (on stdio: characters) of one message from the server. Default 16 MiB. */
  maxMessageBytes?: number;
  /** Bytes that may wait for a server process to read them. Default 64 MiB. */
  maxQueuedBytes?: number;
  /** Lines on a server process's stdout, one after another, that are no MCP message. Default 1,000. */
  maxStrayLines?: number;
  /**
   * Bytes of results that are kept for as long as the server allows (server/utilities/caching); what was used least
   * lately goes first. 0 keeps none. Default 16 MiB.
   */
  maxCacheBytes?: number;
  /** Pages of one list. Default 1,000. */
  maxPages?: number;
  /** Items of one list, from all its pages. Default 100,000. */
  maxListed?: number;
  /** Characters of one list that comes in several pages. Default 64 Mi. */
  maxListedChars?: number;
  /** Times that one request may be answered by questions (basic/patterns/mrtr). Default 10. */
  maxRounds?: number;
  /** Questions of the server that may wait for an answer at once. Default 64. */
  maxQuestions?: number;
  /** HTTP connections for requests at a time; each long-lived stream has one of its own besides. Default 256. */
  maxConnections?: number;
}

type Optional =
  | keyof AnswerOptions
  | "auth"
  | "signal"
  | "logLevel"
  | "onLog"
  | "onMessage"
  | "onElicitComplete"
  | "onSessionLost"
  | "onWarning"
  | "onStderr"
  | "onStrayOutput";

/** Options with every choice made. */
export type Settings = Required<Omit<ConnectOptions, Optional>> &
  Pick<ConnectOptions, Optional> & {
    /** Whether calls may be answered by tasks. */
    readonly tasks: boolean;
    /** Vouches for each request over HTTP. */
    readonly authorization?: Authorization | undefined;
    /** When connecting began, on the clock of `performance.now()`: all that is tried has one `connectTimeout`. */
    readonly clock: { since: number };
  };

/** The longest that a timer can wait, in milliseconds: nearly 25 days. Node makes 1 ms of what is longer. */
export const MAX_DELAY = 2 ** 31 - 1;

const DEFAULTS: Omit<Settings, "clock"> = {
  clientInfo: { name: "patchbay", version: "0.1.0" },
  era: "auto",
  tasks: false,
  middleware: [],
  connectTimeout: 60_000,
  probeTimeout: 3_000,
  timeout: 60_000,
  maxTimeout: 600_000,
  maxTaskTime: 24 * 60 * 60_000,
  maxRestarts: 5,
  maxRetries: 10,
  maxRetryAfter: 60_000,
  closeTimeout: 2_000,
  maxMessageBytes: 16 * 1024 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
  maxStrayLines: 1_000,
  maxCacheBytes: 16 * 1024 * 1024,
  maxPages: 1_000,
  maxListed: 100_000,
  maxListedChars: 64 * 1024 * 1024,
  maxRounds: 10,
  maxQuestions: 64,
  maxConnections: 256,
};

/** The least that a number of tries or connections may be. */
const LEAST = { maxRestarts: 0, maxRetries: 0, maxConnections: 1 } as const;

/**
 * Fills in what was not chosen.
 *
 * @throws TypeError for a number of tries or connections that is none
 */
export function settingsOf(options: ConnectOptions): Settings {
  const chosen = Object.entries(options).filter(([, value]) => value !== undefined);
  const clock = { since: performance.now() };
  const settings: Settings = { ...DEFAULTS, ...Object.fromEntries(chosen), clock };
  if (settings.onLog !== undefined) settings.logLevel ??= "info";
  for (const name of ["connectTimeout", "timeout", "closeTimeout"] as const) {
    settings[name] = Math.min(settings[name], MAX_DELAY);
  }
  for (const [name, least] of Object.entries(LEAST) as [keyof typeof LEAST, number][]) {
    const number = settings[name];
    if (number === Number.POSITIVE_INFINITY || (Number.isInteger(number) && number >= least)) continue;
    throw new TypeError(`${name} must be a whole number of at least ${least}, not ${number}`);
  }
  // A silent server is given twice this.
  settings.probeTimeout = Math.min(settings.probeTimeout, MAX_DELAY / 2);
  return { ...settings, tasks: settings.tasks || settings.extensions?.[TASKS_EXTENSION] !== undefined };
}
