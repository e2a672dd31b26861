/**
 * Loaded into a server that does not say which free port it took: it listens on loopback instead of on every
 * address, and prints its URL.
 */

import { Server } from "node:net";

const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  this.once("listening", () => console.log(`http://127.0.0.1:${this.address().port}/mcp`));
  return listen.call(this, Number(port), "127.0.0.1", ...rest);
};
