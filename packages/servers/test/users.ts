/** A server over HTTP, and users of it who show different tokens. */

import { randomBytes } from "node:crypto";
import { type Client, connect } from "@patchbay/client";
import type { McpServer } from "@patchbay/server";
import { hashKey, staticKeys } from "@patchbay/server/auth";
import { serveHttp } from "@patchbay/server/http";

export interface Users {
  clients: Client[];
  close(): Promise<void>;
}

/** Serves it to so many users, each connected. */
export async function serveUsers(server: McpServer, subjects: readonly string[]): Promise<Users> {
  const keys = subjects.map((subject) => ({ subject, key: randomBytes(32).toString("hex") }));
  const hashes = await Promise.all(
    keys.map(async ({ subject, key }) => ({ subject, hash: await hashKey(key) })),
  );
  const serving = await serveHttp(server, { port: 0, auth: { verify: staticKeys(hashes) } });
  const clients = await Promise.all(keys.map(({ key }) => connect(serving.url, { auth: key })));
  return {
    clients,
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      await serving.close();
    },
  };
}
