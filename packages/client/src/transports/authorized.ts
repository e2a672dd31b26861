/** A request that carries credentials, and is sent again with others when the server does not take them. */

import type { IncomingHttpHeaders } from "node:http";
import type { Reply, ReplyListener } from "./reply.ts";

/** A request as far as credentials depend on it. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A request that the server did not take (401, 403). */
export interface Refused extends Outgoing {
  readonly status: number;
  /** `WWW-Authenticate`, where there was one. */
  readonly challenge: string | undefined;
  /** The credentials that it carried: name, value, name, value. */
  readonly sent: readonly string[];
  /** How many times it was refused until now, this one included. */
  readonly times: number;
}

/** What vouches for all requests to one server. */
export interface Authorization {
  /** The headers of one request, as name, value, name, value: at once, unless they have to be fetched first. */
  headersFor(request: Outgoing): readonly string[] | Promise<readonly string[]>;
  /**
   * Gets other credentials.
   *
   * @returns true when the request should be sent again; false when there is nothing to be done
   * @throws AuthorizationError that says which step failed
   */
  refused(refused: Refused): Promise<boolean>;
  /** Sees the headers of each response, and whether the server has taken the request. */
  heard?(headers: IncomingHttpHeaders, taken: boolean): void;
  /** A user takes their time: whoever counts it is called when one is asked, and gives what ends the wait. */
  onWait?(hold: () => () => void): void;
}

/** Characters of what is kept out of a body; shorter ones would be found in other words. */
const MIN_SECRET = 4;
/** Times that one request is refused until the refusal is its answer, whatever `refused` says. */
const MAX_REFUSALS = 4;

export class AuthorizedRequest implements Reply, Outgoing {
  readonly method: string;
  readonly url: string;
  readonly #authorization: Authorization;
  readonly #send: (headers: readonly string[], listener: ReplyListener) => Reply;
  readonly #listener: ReplyListener;
  #reply: Reply | undefined;
  #over = false;
  #times = 0;
  #abandoned: AbortController | undefined;
  isWaiting = true;

  /** @param send sends the request with these credentials */
  constructor(
    authorization: Authorization,
    { method, url }: { method: string; url: string },
    listener: ReplyListener,
    send: (headers: readonly string[], listener: ReplyListener) => Reply,
  ) {
    this.method = method;
    this.url = url;
    this.#authorization = authorization;
    this.#listener = listener;
    this.#send = send;
    this.#start();
  }

  get signal(): AbortSignal {
    this.#abandoned ??= new AbortController();
    return this.#abandoned.signal;
  }

  abort(): void {
    this.#over = true;
    this.#abandoned?.abort(new Error("the response is no longer wanted"));
    this.#reply?.abort();
  }

  finish(): void {
    this.#reply?.finish();
  }

  #start(): void {
    try {
      const headers = this.#authorization.headersFor(this);
      if (headers instanceof Promise) headers.then((ready) => this.#go(ready), this.#fail);
      else this.#go(headers);
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #go(sent: readonly string[]): void {
    if (this.#over) return;
    this.isWaiting = false;
    const listener = this.#listener;
    this.#reply = this.#send(sent, {
      ...listener,
      onHeaders: (headers) => {
        this.#authorization.heard?.(headers, true);
        listener.onHeaders?.(headers);
      },
      onRefusal: (status, headers, said) => {
        const body = withoutCredentials(said, sent);
        this.#authorization.heard?.(headers, false);
        const mayHelp = (status === 401 || status === 403) && ++this.#times < MAX_REFUSALS;
        if (!mayHelp) return listener.onRefusal(status, headers, body);
        this.isWaiting = true;
        const { method, url, signal } = this;
        const challenge = challengeOf(headers);
        this.#authorization
          .refused({ method, url, signal, status, challenge, sent, times: this.#times })
          .then((again) => {
            if (this.#over) return;
            if (again) this.#start();
            else listener.onRefusal(status, headers, body);
          }, this.#fail);
      },
    });
  }

  readonly #fail = (error: Error): void => {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onError(error);
  };
}

/** What a server repeats of a token, or of its proof, is not shown. */
function withoutCredentials(body: string, sent: readonly string[]): string {
  const secrets = sent
    .filter((_, index) => index % 2 === 1)
    .map((value) => value.slice(value.indexOf(" ") + 1));
  return secrets.reduce(
    (left, secret) => (secret.length < MIN_SECRET ? left : left.replaceAll(secret, "…")),
    body,
  );
}

function challengeOf(headers: IncomingHttpHeaders): string | undefined {
  // Where there are several, the parser of what came in gives a list.
  const challenge: string | string[] | undefined = headers["www-authenticate"];
  return Array.isArray(challenge) ? challenge.join(", ") : challenge;
}
