/** Who asks, and how to reach them: what `dispatch` is handed with a request, whatever brought it. */

import {
  type ClientCapabilities,
  type Implementation,
  type LoggingLevel,
  type Revision,
  type Wire,
  writeNotification,
} from "@patchbay/core";

/** The client as it describes itself. Not verified: for display and logs. */
export interface ClientDescription {
  info: Implementation | undefined;
  capabilities: ClientCapabilities;
}

/** Who is asking. In a legacy session it holds for all requests, else for one. */
export interface Caller {
  readonly wire: Wire;
  readonly client: ClientDescription;
  /** Log messages below it are not sent; none are when it is missing. */
  readonly logLevel: LoggingLevel | undefined;
}

/** One request being answered. */
export interface Exchange {
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly logLevel: LoggingLevel | undefined;
  /** Aborts when the client no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. Does nothing once the request is over. */
  notify(method: string, params: object): void;
}

/** An exchange over a real transport, from the arrival of its request to its answer. */
export class Call implements Exchange {
  readonly caller: Caller;
  readonly #send: (text: string) => void;
  #controller: AbortController | undefined;
  #over = false;
  #cancelled = false;

  /** @param send puts the text of a notification on the wire, before the answer */
  constructor(caller: Caller, send: (text: string) => void) {
    this.caller = caller;
    this.#send = send;
  }

  get revision(): Revision {
    return this.caller.wire.revision;
  }

  get client(): ClientDescription {
    return this.caller.client;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.caller.logLevel;
  }

  /** Made when first asked for: most handlers never look at it. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelled) this.#controller.abort(new CancelledError());
    }
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  notify(method: string, params: object): void {
    if (this.#over) return;
    this.#send(writeNotification(method, this.caller.wire.notificationParams(method, params)));
  }

  /** The answer is no longer wanted: the handler's signal aborts, and nothing more is sent. */
  cancel(reason?: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#cancelled = true;
    this.#controller?.abort(new CancelledError(reason));
  }

  /** The answer is there: nothing may follow it. */
  finish(): void {
    this.#over = true;
  }
}

/** The reason of an aborted `signal`. */
export class CancelledError extends Error {
  constructor(reason?: string) {
    super(
      reason === undefined
        ? "The client cancelled the request"
        : `The client cancelled the request: ${reason}`,
    );
    this.name = "CancelledError";
  }
}
