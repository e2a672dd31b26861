/** Stands between a client and a server, and cuts their connections when it is told to. */

import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";

export interface TcpProxy {
  /** The server's URL, by way of here. */
  readonly url: string;
  /** Breaks every connection off, on both sides. */
  cut(): void;
  /** Resolves once one of the two has sent this, in whatever case, from now on. */
  seen(text: string): Promise<void>;
  close(): Promise<void>;
}

/** @param url of the server, on loopback */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const awaited = new Set<(chunk: string) => void>();
  const proxy = createServer((client) => {
    const server = dial(Number(target.port), target.hostname);
    const both = [client, server];
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        for (const other of both) other.destroy();
      });
    }
    client.pipe(server).pipe(client);
    for (const socket of both) {
      socket.on("data", (chunk) => {
        for (const look of awaited) look(chunk.toString("latin1").toLowerCase());
      });
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const through = new URL(url);
  through.port = String((proxy.address() as AddressInfo).port);
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: through.href,
    cut,
    seen: (text) =>
      new Promise((resolve) => {
        const look = (chunk: string) => {
          if (!chunk.includes(text.toLowerCase())) return;
          awaited.delete(look);
          resolve();
        };
        awaited.add(look);
      }),
    async close() {
      cut();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
