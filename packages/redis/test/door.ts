/** A door to a Redis, to be shut. */

import { connect, createServer, type Server, type Socket } from "node:net";

/** An address behind which one Redis can take the place of another. */
export class Door {
  static readonly #open = new Set<Door>();
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  port = 0;
  /** The port of the Redis that is behind it from now on. */
  target: number;

  constructor(target: number) {
    this.target = target;
    this.#server = createServer((socket) => {
      const there = connect(this.target, "127.0.0.1");
      for (const [one, other] of [
        [socket, there],
        [there, socket],
      ] as const) {
        this.#sockets.add(one);
        one.pipe(other);
        one
          .on("error", () => {})
          .on("close", () => {
            this.#sockets.delete(one);
            other.destroy();
          });
      }
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.port = (this.#server.address() as { port: number }).port;
    Door.#open.add(this);
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Ends the connections that go through it. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    Door.#open.delete(this);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  static async closeAll(): Promise<void> {
    for (const door of [...Door.#open]) await door.close();
  }
}
