/** Who asks, and how to reach them: what `dispatch` is handed with a request, whatever brought it. */

import {
  type ClientCapabilities,
  type Implementation,
  type InputRequest,
  type JsonObject,
  type LoggingLevel,
  MissingCapabilityError,
  missingCapability,
  type Result,
  type Revision,
  UrlElicitationRequiredError,
  type Wire,
  writeNotification,
} from "@patchbay/core";
import type { Access } from "./auth/access.ts";
import type { TaskMaker } from "./tasks/call.ts";

/** The client as it describes itself. Not verified: for display and logs. */
export interface ClientDescription {
  info: Implementation | undefined;
  capabilities: ClientCapabilities;
}

/** Who is asking. In a legacy session it holds for all requests, else for one. */
export interface Caller {
  /** Names them among all, where they can be told apart: a legacy session, a connection. */
  readonly key?: string | undefined;
  /** What their request may do; nothing where it came through a pipe or memory: everything. */
  readonly access?: Access | undefined;
  readonly wire: Wire;
  readonly client: ClientDescription;
  /** Log messages below it are not sent; none are when it is missing. */
  readonly logLevel: LoggingLevel | undefined;
}

/** One request being answered. */
export interface Exchange {
  /** Names who asks among all, where they can be told apart: a legacy session, a connection. */
  readonly key?: string | undefined;
  /** Whose it is and what was granted; nothing where it came through a pipe or memory. */
  readonly access?: Access | undefined;
  readonly revision: Revision;
  readonly client: ClientDescription;
  readonly logLevel: LoggingLevel | undefined;
  /** Aborts when the client no longer wants the answer. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to this request. Does nothing once the request is over. */
  notify(method: string, params: object): void;
  /** Asks the client, and waits for what it says. */
  readonly dialogue: Dialogue;
  /** Lets go of the connection for a while, where the client can come back for the rest. */
  detach(retryMs: number): void;
  /** Makes the request a task, where its client takes one. */
  readonly tasks?: TaskMaker | undefined;
  /** Says what goes on, where the request is a task. */
  status?(message: string): void;
}

/** Who is counted as one where something is bounded: a principal, or else a session or a connection. */
export function countedAs({ access, key }: Pick<Caller, "access" | "key">): string | undefined {
  return access?.principal ?? key;
}

/** How a handler asks its client for something while it works, whatever that takes in the client's era. */
export interface Dialogue {
  /**
   * @param key names the question among those of the request; by default its number does
   * @returns the client's result
   * @throws MissingCapabilityError when the client did not say it can be asked this
   */
  ask(request: InputRequest, key?: string): Promise<JsonObject>;
  /**
   * Ends the request because its user has to visit pages first, as the client's era has it.
   *
   * @throws the error itself where it is what the request is answered with, or MissingCapabilityError
   */
  require?(needed: UrlElicitationRequiredError): Promise<Result>;
  /** Does something once, even when the handler is run again to hear an answer; gives what it gave. */
  step(name: string, run: () => unknown): Promise<unknown>;
}

/**
 * What is asked, as the client's revision spells it.
 *
 * @throws MissingCapabilityError when the client did not say that it can be asked this, or its revision cannot
 */
export function spelled(request: InputRequest, { wire, client }: Caller): InputRequest {
  const missing = missingCapability(request, client.capabilities);
  const sent = wire.inputRequest(request);
  if (missing === undefined && sent !== undefined) return sent;
  throw new MissingCapabilityError(request.method, (missing as JsonObject) ?? {});
}

/** What a request fails with, as far as its client can be told: pages are for who can visit them. */
export function toldTo(caller: Caller, thrown: unknown): unknown {
  if (!(thrown instanceof UrlElicitationRequiredError)) return thrown;
  try {
    for (const params of thrown.elicitations) spelled({ method: "elicitation/create", params }, caller);
    return thrown;
  } catch (missing) {
    return missing;
  }
}

/** An exchange over a real transport, from the arrival of its request to its answer. */
export class Call implements Exchange {
  readonly caller: Caller;
  tasks: TaskMaker | undefined;
  readonly #send: (text: string) => void;
  readonly #openDialogue: (call: Call) => Dialogue;
  readonly #detach: ((retryMs: number) => void) | undefined;
  #dialogue: Dialogue | undefined;
  #controller: AbortController | undefined;
  /** Takes the result of a request that was suspended; its handler's is then passed over. */
  onSuspended: ((result: Promise<Result>) => void) | undefined;
  #over = false;
  #cancelled = false;
  #suspended = false;

  /**
   * @param send puts the text of a message on the wire, before the answer
   * @param openDialogue is called when a handler first asks something
   * @param detach lets go of the connection, where the client can come back for the rest
   */
  constructor(
    caller: Caller,
    send: (text: string) => void,
    openDialogue: (call: Call) => Dialogue,
    detach?: (retryMs: number) => void,
  ) {
    this.caller = caller;
    this.#send = send;
    this.#openDialogue = openDialogue;
    this.#detach = detach;
  }

  get dialogue(): Dialogue {
    this.#dialogue ??= this.#openDialogue(this);
    return this.#dialogue;
  }

  /** A retry brings its dialogue along. */
  set dialogue(resumed: Dialogue) {
    this.#dialogue = resumed;
  }

  get key(): string | undefined {
    return this.caller.key;
  }

  get access(): Access | undefined {
    return this.caller.access;
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

  get suspended(): boolean {
    return this.#suspended;
  }

  get cancelled(): boolean {
    return this.#cancelled;
  }

  detach(retryMs: number): void {
    if (!this.#over) this.#detach?.(retryMs);
  }

  /** Puts a message on the wire as long as the answer is not there. */
  send(text: string): void {
    if (!this.#over) this.#send(text);
  }

  notify(method: string, params: object): void {
    if (this.#over) return;
    this.#send(writeNotification(method, this.caller.wire.notificationParams(method, params)));
  }

  /** The answer is no longer wanted: the handler's signal aborts, and nothing more is sent. */
  cancel(reason?: string): void {
    if (this.#over) return;
    this.#cancelled = true;
    this.#stop(new CancelledError(reason));
  }

  /** This run of the handler is over; the request is answered by this result instead of the handler's. */
  suspend(result: Promise<Result>, why: Error): void {
    if (this.#over) return;
    this.#suspended = true;
    this.onSuspended?.(result);
    this.#stop(why);
  }

  #stop(why: Error): void {
    this.#over = true;
    this.#controller?.abort(why);
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
