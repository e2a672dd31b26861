/** A client's connection that another instance holds: what a stream sends over it is handed on. */

import type { InstanceMessage } from "../sessions/instances.ts";
import type { Sink } from "./event-stream.ts";

export class DistantSink implements Sink {
  readonly #tell: (message: InstanceMessage) => Promise<void>;
  readonly #connection: string;
  readonly #listeners: (() => void)[] = [];
  #over = false;

  /** @param connection its name where it is held */
  constructor(tell: (message: InstanceMessage) => Promise<void>, connection: string) {
    this.#tell = tell;
    this.#connection = connection;
  }

  /** Whoever holds the connection drops a reader that is too slow. */
  write(text: string, seq?: number): number {
    if (!this.#over) {
      this.#send({ kind: "write", connection: this.#connection, text, ...(seq !== undefined && { seq }) });
    }
    return 0;
  }

  end(): void {
    if (this.#over) return;
    this.#send({ kind: "close", connection: this.#connection });
    this.lose();
  }

  destroy(): void {
    this.end();
  }

  onOver(listener: () => void): void {
    if (this.#over) queueMicrotask(listener);
    else this.#listeners.push(listener);
  }

  /** Nothing gets there any more. */
  lose(): void {
    if (this.#over) return;
    this.#over = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  #send(message: InstanceMessage): void {
    this.#tell(message).catch(() => this.lose());
  }
}
