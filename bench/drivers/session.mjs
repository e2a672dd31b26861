/** Sessions over Streamable HTTP: opened, and named in the headers of what follows. */

import { ContenderError } from "../closed-loop.mjs";
import { handshake, isModern, metadataHeaders } from "../messages.mjs";

/** What every request has. */
export function baseHeaders({ accept = "application/json, text/event-stream", headers = {} }) {
  return { "content-type": "application/json", accept, ...headers };
}

/** Opens a legacy session; gives the header that names it. A modern client asks nothing first over HTTP. */
export async function shakeHands(connection, revision) {
  if (isModern(revision)) return {};
  let session = {};
  for (const message of handshake(revision)) {
    const headers = { ...metadataHeaders(revision, message.method), ...session };
    const response = await connection.exchange(headers, JSON.stringify(message));
    if (response.status >= 300) {
      throw new ContenderError(`${message.method}: HTTP ${response.status}: ${response.body.slice(0, 200)}`);
    }
    const id = /\r\nmcp-session-id: *([^\r]+)/i.exec(response.head);
    if (id) session = { "mcp-session-id": id[1] };
  }
  return session;
}
