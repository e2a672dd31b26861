/** What HTTP clients are measured against: answers off the socket, without an HTTP server in between. Argument: the revision. */

import { createServer } from "node:net";
import { serveFetch } from "@patchbay/server/fetch";
import { listening } from "./listening.mjs";
import { server } from "./patchbay.mjs";
import { answerEcho } from "./target.mjs";

const { fetch } = serveFetch(server, { allowedHosts: ["127.0.0.1"] });

createServer({ noDelay: true }, (socket) => {
  let received = "";
  socket.setEncoding("latin1").on("error", () => {});
  socket.on("data", (text) => {
    received += text;
    for (let request = firstOf(received); request !== undefined; request = firstOf(received)) {
      received = received.slice(request.length);
      const answer = request.method === "POST" ? answerEcho(request.body) : undefined;
      if (answer !== undefined) socket.write(`${OK}${answer.length}\r\n\r\n${answer}`, "latin1");
      else ask(request).then((response) => socket.write(response));
    }
  });
}).listen(0, "127.0.0.1", function () {
  listening(this.address().port);
});

const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";

/** The first whole request of what was received. */
function firstOf(text) {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const bodyLength = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0);
  const length = headEnd + 4 + bodyLength;
  if (text.length < length) return undefined;
  const method = text.slice(0, text.indexOf(" "));
  return { method, head: text.slice(0, headEnd), body: text.slice(headEnd + 4, length), length };
}

/** What ours answers. */
async function ask({ method, head, body }) {
  const [, ...lines] = head.split("\r\n");
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  // A stream that nothing comes on would keep this from answering.
  if (method === "GET") return "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n";
  const url = "http://127.0.0.1/mcp";
  const response = await fetch(new Request(url, { method, headers, ...(method === "POST" && { body }) }));
  const text = await response.text();
  const told = [...response.headers].filter(([name]) => name !== "content-length");
  const lengthOf = `content-length: ${Buffer.byteLength(text)}\r\n\r\n`;
  const head1 = told.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${response.status} ${response.statusText}\r\n${head1}${lengthOf}${text}`;
}
