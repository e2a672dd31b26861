/** What happens to requests when a session, a process or an answer is lost, and how a lost connection is had again. */

import { ConnectionError, TimeoutError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Settings } from "./options.ts";
import { backoff, FIRST_PAUSE, MAX_PAUSE, pause } from "./pause.ts";
import type { Question } from "./question.ts";
import type { Transport } from "./transports/transport.ts";

/** Milliseconds after which a connection that was opened again has proved itself. */
const STABLE = 60_000;
/** A connection that was lost for one of these is opened again; others would be the same the next time. */
const PASSING: ReadonlySet<string> = new Set(["exited", "closed", "unreachable"]);

/** Methods that do nothing twice when they are sent twice. */
const REPEATABLE: ReadonlySet<string> = new Set([
  "ping",
  "server/discover",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "skills/list",
  "completion/complete",
  "logging/setLevel",
  "tasks/list",
  "tasks/get",
  "tasks/result",
  "tasks/update",
  "tasks/cancel",
]);

/** Whether a request whose answer was lost may be sent again. */
function isRepeatable({ method, repeatable, opens }: Question): boolean {
  return opens === undefined && (repeatable ?? REPEATABLE.has(method));
}

/** Whether what a failed request asks for may be had from another instance, or at another moment. */
function isLostAnswer({ mayHaveRun, status, reason }: ConnectionError): boolean {
  if (!mayHaveRun) return false;
  // What is in between says that it had no answer; of its own failures a server will have more.
  return status === undefined ? PASSING.has(reason) : status === 502 || status === 503 || status === 504;
}

/**
 * When a request that failed is to be sent again: after so many milliseconds where the server wants it later, at once
 * where its answer was lost and nothing is done twice by it; never where there is no number.
 */
export function timeOfNextTry(
  exchange: Exchange,
  error: ConnectionError,
  { maxRetries, maxRetryAfter }: Settings,
): number | undefined {
  const { question, retries } = exchange;
  const { retryAfter, mayHaveRun } = error;
  // A subscription has its own way to come back.
  if (retryAfter !== undefined && !mayHaveRun && question.method !== "subscriptions/listen") {
    const ms = retryAfter + backoff(retries, FIRST_PAUSE, MAX_PAUSE);
    if (retries >= maxRetries || retryAfter > maxRetryAfter || ms >= exchange.timeLeft) return undefined;
    exchange.retries++;
    return ms;
  }
  if (exchange.lostAnswer || !isLostAnswer(error) || !isRepeatable(question)) return undefined;
  exchange.lostAnswer = true;
  return 0;
}

/** The error for a request that is not sent again, in words that say whether it may have run. */
export function withDoubt(error: ConnectionError, question: Question): ConnectionError {
  if (!error.mayHaveRun) return error;
  if (isRepeatable(question) || question.opens !== undefined) return error;
  return error.told(`${question.method} may have run, and was not sent again: ${error.message}`);
}

/** What recovering needs of the conversation. */
interface RecoveryHost {
  readonly transport: Transport;
  readonly settings: Settings;
  /** Aborts when the connection has ended for good. */
  readonly over: AbortSignal;
}

interface RecoverySteps {
  /** Opens the session. */
  handshake: () => Promise<void>;
  /** It is open: what the server kept is to be set up again. */
  onOpen: () => void;
}

/** Opens a lost connection again: a session at once; a process or a stream later each time, and so many times in a row. */
export class Recovery {
  readonly #host: RecoveryHost;
  readonly #steps: RecoverySteps;
  #tries = 0;
  #openedAt = performance.now();
  #brokeOff: ConnectionError | undefined;

  constructor(host: RecoveryHost, steps: RecoverySteps) {
    this.#host = host;
    this.#steps = steps;
  }

  /** Whether a connection that was lost for this can be opened again. */
  reopens(why: Error | undefined): why is ConnectionError {
    const { transport, settings } = this.#host;
    if (transport.reopen === undefined || settings.maxRestarts === 0) return false;
    return why instanceof ConnectionError && PASSING.has(why.reason);
  }

  /** It was lost again while it was being opened. */
  brokeOff(why: ConnectionError): void {
    this.#brokeOff = why;
  }

  /** What has been set up is set up again. */
  restore(): void {
    this.#steps.onOpen();
  }

  /** A new session, over the same transport: at once, but later each time where sessions do not last. */
  async renew(): Promise<void> {
    if (performance.now() - this.#openedAt >= STABLE) this.#tries = 0;
    if (this.#tries > 0) await pause(backoff(this.#tries - 1, FIRST_PAUSE, MAX_PAUSE), this.#host.over);
    this.#tries++;
    try {
      await this.#steps.handshake();
    } catch (error) {
      throw error instanceof TimeoutError ? this.#silent(error) : error;
    }
    this.#openedAt = performance.now();
  }

  /**
   * A new process or stream, and a new session in it.
   *
   * @throws ConnectionError that says why it was given up
   */
  async reopen(why: ConnectionError): Promise<void> {
    const { transport, settings, over } = this.#host;
    if (performance.now() - this.#openedAt >= STABLE) this.#tries = 0;
    let last = why;
    while (this.#tries < settings.maxRestarts) {
      await pause(backoff(this.#tries++, FIRST_PAUSE, MAX_PAUSE), over);
      try {
        this.#brokeOff = undefined;
        await transport.reopen?.();
        await this.#steps.handshake();
        if (this.#brokeOff !== undefined) throw this.#brokeOff;
        this.#openedAt = performance.now();
        return;
      } catch (error) {
        over.throwIfAborted();
        if (error instanceof TimeoutError) last = this.#silent(error);
        else if (error instanceof ConnectionError) last = error;
        else throw error;
        if (last.reason === "incompatible" || last.reason === "too-large") break;
      }
    }
    if (this.#tries < settings.maxRestarts) throw last;
    throw last.told(
      `${last.message}. It was opened again as often as maxRestarts allows (${settings.maxRestarts})`,
    );
  }

  #silent(cause: Error): ConnectionError {
    const { transport, settings } = this.#host;
    const limit = `connectTimeout (${settings.connectTimeout} ms)`;
    return new ConnectionError("silent", `${transport.serverName} did not answer within ${limit}`, { cause });
  }
}
