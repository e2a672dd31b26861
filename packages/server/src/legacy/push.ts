/** Asking a legacy client: a request is pushed to it, and its response waited for. */

import {
  type ErrorMessage,
  type InputRequest,
  type InvalidMessage,
  type JsonObject,
  type RequestId,
  type ResultMessage,
  writeNotification,
  writeRequest,
} from "@patchbay/core";
import { type Call, type Dialogue, spelled, toldTo } from "../exchange.ts";
import { after } from "../timers.ts";

/** A client may have to ask its user, who may be out for coffee. */
export const DEFAULT_ANSWER_TIMEOUT = 10 * 60_000;

const UNHEARD =
  "The client cannot be asked anything: its answer may come to another instance of this server. " +
  "Its operator can keep sessions in Redis, or with their instance";
const GONE = "The client cannot answer any more: it has gone, or this server is closing";

interface Pending {
  resolve: (result: JsonObject) => void;
  reject: (cause: Error) => void;
}

/** The requests of ours that one client has not answered yet. */
export class ClientRequests {
  readonly #answerTimeout: number;
  readonly #idPrefix: string;
  readonly #takesAnswers: boolean;
  /** Made for the first: most clients are asked nothing. */
  #pending: Map<RequestId, Pending> | undefined;
  #lastId = 0;
  #closed = false;

  /**
   * @param answerTimeout milliseconds that a client is given to answer
   * @param idPrefix makes ids unique where a session outlives this
   * @param takesAnswers false where nobody can be asked, because answers may not come here
   */
  constructor(answerTimeout: number = DEFAULT_ANSWER_TIMEOUT, idPrefix = "", takesAnswers = true) {
    this.#answerTimeout = answerTimeout;
    this.#idPrefix = idPrefix;
    this.#takesAnswers = takesAnswers;
  }

  get size(): number {
    return this.#pending?.size ?? 0;
  }

  /** Sends a request and waits for its result; tells the client when it is no longer waited for. */
  ask(request: InputRequest, send: (text: string) => void, signal: AbortSignal): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (!this.#takesAnswers) return reject(new Error(UNHEARD));
      if (this.#closed) return reject(new Error(GONE));
      const id = this.#idPrefix === "" ? ++this.#lastId : `${this.#idPrefix}${++this.#lastId}`;
      const settle = () => {
        this.#pending?.delete(id);
        callOff();
        signal.removeEventListener("abort", onAbort);
      };
      const giveUp = (cause: Error) => {
        settle();
        send(writeNotification("notifications/cancelled", { requestId: id, reason: cause.message }));
        reject(cause);
      };
      const onAbort = () => giveUp(signal.reason as Error);
      const callOff = after(this.#answerTimeout, () => {
        const limit = `answerTimeout (${this.#answerTimeout} ms)`;
        giveUp(new Error(`The client did not answer ${request.method} within ${limit}`));
      });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#pending ??= new Map();
      this.#pending.set(id, {
        resolve: (result) => {
          settle();
          resolve(result);
        },
        reject: (cause) => {
          settle();
          reject(cause);
        },
      });
      send(writeRequest(id, request.method, request.params));
    });
  }

  /** Takes a response in; false when no request of ours waits for it. */
  settle(message: ResultMessage | ErrorMessage | InvalidMessage): boolean {
    const pending = message.id === undefined ? undefined : this.#pending?.get(message.id);
    if (pending === undefined) return false;
    if (message.kind === "result") pending.resolve(message.result);
    else pending.reject(new Error(`The client answered with an error: ${message.error.message}`));
    return true;
  }

  /** Nobody will answer any more. */
  close(): void {
    this.#closed = true;
    for (const { reject } of [...(this.#pending?.values() ?? [])]) reject(new Error(GONE));
  }
}

/** The dialogue of one legacy request: what is asked goes out at once, on the way its answer will take. */
export function pushDialogue(call: Call, requests: ClientRequests): Dialogue {
  const steps = new Map<string, Promise<unknown>>();
  return {
    async ask(request) {
      return requests.ask(spelled(request, call.caller), (text) => call.send(text), call.signal);
    },
    async require(needed) {
      throw toldTo(call.caller, needed);
    },
    step(name, run) {
      let kept = steps.get(name);
      if (kept === undefined) {
        kept = Promise.resolve().then(run);
        steps.set(name, kept);
      }
      return kept;
    },
  };
}
