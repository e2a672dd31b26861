/** What a transport does for a client: it carries requests out, and brings back what belongs to each. */

import type { InvalidMessage, Message, Revision } from "@patchbay/core";
import type { ConnectionError } from "../errors.ts";

/** What a transport must know of a request besides its text. */
export interface RequestHead {
  id: number;
  method: string;
  /** The tool, prompt, resource or task that is asked for, where the method has one. */
  name: string | undefined;
  /** Headers that repeat parameters of a tool, where the transport has them: name, value, name, value. */
  mirrored?: readonly string[] | undefined;
}

/** Who is told what a transport brings. */
export interface Receiver {
  /**
   * A message came in.
   *
   * @param requestId the request on whose own stream it came, where each has one
   * @returns false when it belongs to nothing
   */
  onMessage(message: Message | InvalidMessage, requestId?: number): boolean;
  /** A request can get no answer any more. */
  onFailure(requestId: number, error: Error): void;
  /**
   * The server has forgotten our session.
   *
   * @param requestId a request that it refused for that, and has not done
   * @param isReplaced there is a new one already
   */
  onSessionLost(why: ConnectionError, requestId?: number, isReplaced?: boolean): void;
  /** What the server tells unasked was not heard for a while. */
  onGap(): void;
  /** The connection has ended; called once, and then nothing until it is opened again. */
  onClose(cause?: Error): void;
}

/** How long a server that is asked over HTTP may take to take a message: `timeout`, unless it opens a connection. */
export type PostLimit = "timeout" | "connectTimeout";

/** One connection to one server. */
export interface Transport {
  /** The server, as errors name it. */
  readonly serverName: string;
  /** Whether parameters of tools are repeated in headers (streamable-http § Custom Headers). */
  readonly mirrorsParams: boolean;
  /** Starts to deliver; called once, before anything is sent. */
  listen(receiver: Receiver): void;
  /** Sends a request. What becomes of it is told to the receiver. */
  send(text: string, request: RequestHead): void;
  /** Sends a notification or a response; resolves when the server has it. */
  post(text: string, limit?: PostLimit): Promise<void>;
  /**
   * An answer is no longer wanted.
   *
   * @param notify false for what opens a connection: whoever does not know it would not know its end
   */
  cancel(requestId: number, reason: string, notify: boolean): void;
  /** The revision is agreed. On HTTP it says how each request looks. */
  adopt(revision: Revision): void;
  /** Resolves when the first question of a modern client has been left unanswered too long; never on HTTP. */
  probeExpired(): Promise<void>;
  /** What the server left behind that may explain a failure, as sentences; empty when there is nothing. */
  evidence(): string;
  /**
   * Opens a connection again that has ended, where that can be done.
   *
   * @throws ConnectionError
   */
  reopen?(): Promise<void>;
  /** Ends the connection; resolves when nothing of it is left. */
  close(): Promise<void>;
}
