/**
 * Bare `node:http` that writes what ours writes, to the byte, in as many writes: ours is asked once, at the start, and
 * its answer is kept but for its number. Argument `list` or `progress`.
 */

import { serveFetch } from "@patchbay/server/fetch";
import { KnownAnswer } from "../known-answer.mjs";
import {
  FIRST_NUMBER,
  listTools,
  MODERN,
  metadataHeaders,
  reportingEcho,
  requestWriter,
} from "../messages.mjs";
import { bareHttp } from "./bare-listening.mjs";
import { server } from "./patchbay.mjs";

const call = process.argv[2] === "list" ? listTools : reportingEcho;

async function answerOfOurs() {
  const { fetch } = serveFetch(server, { allowedHosts: ["localhost"] });
  const headers = {
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...metadataHeaders(MODERN, call.method, call.name),
  };
  const body = requestWriter(call, MODERN)(FIRST_NUMBER);
  const response = await fetch(new Request("http://localhost/mcp", { method: "POST", headers, body }));
  return response.text();
}

const text = await answerOfOurs();
if (call.reports) {
  const [first, second] = text.split(/(?<=\n\n)/).map((event) => new KnownAnswer(event, FIRST_NUMBER).pieces);
  bareHttp((json, res) => {
    const { id } = JSON.parse(json);
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(first.join(id));
    res.end(second.join(id));
  });
} else {
  const { pieces } = new KnownAnswer(text, FIRST_NUMBER);
  bareHttp((json, res) => {
    const body = pieces.join(JSON.parse(json).id);
    res.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    res.end(body);
  });
}
