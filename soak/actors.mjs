/** Who uses the server during a soak: clients of every kind, well-behaved and not. Each acts until it is stopped. */

import { request as httpRequest } from "node:http";
import { connect as dial } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { connect } from "@patchbay/client";

const LEGACY = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const MODERN = "2026-07-28";
const WATCHED = "test://watched-resource";

/**
 * @typedef {object} Stage
 * @property {string} url of the MCP endpoint
 * @property {import("./figures.mjs").Figures} figures
 * @property {AbortSignal} signal aborts when the run is over
 */

/** Between two things that an actor does, so that a run loads a machine and does not choke it. */
const pause = (ms, signal) => delay(ms * (0.5 + Math.random()), undefined, { signal }).catch(() => {});

/**
 * Our client: calls, progress, questions, lists, resources, changes, cancellation; it closes, and comes again.
 *
 * @param {Stage} stage
 * @param {{ era: "modern" | "legacy", sse?: boolean }} how
 */
export async function caller({ url, figures, signal }, { era, sse = false }) {
  const target = sse ? new URL("/sse", url).href : url;
  const name = sse ? "HTTP+SSE" : era;
  while (!signal.aborted) {
    const client = await connect(target, {
      era,
      // What is looked for is not how fast a busy machine is.
      probeTimeout: 30_000,
      onElicit: () => ({ action: "accept", content: { username: "ada", email: "ada@example.com" } }),
    });
    const heard = [];
    const subscription = await client.listen({ resourceSubscriptions: [WATCHED] }, (change) =>
      heard.push(change),
    );
    for (let turn = 0; turn < 40 && !signal.aborted; turn++) {
      const began = performance.now();
      await act(client, turn, figures, name);
      figures.took(performance.now() - began);
      await pause(40, signal);
    }
    if (heard.length > 0) figures.count("changes heard");
    await subscription.close();
    await client.close();
  }
}

async function act(client, turn, figures, name) {
  try {
    switch (turn % 8) {
      case 0:
        return expectText(
          await client.callTool("test_elicitation", { message: "Who?" }),
          /ada@example/,
          figures,
          name,
        );
      case 1: {
        let steps = 0;
        const onProgress = () => steps++;
        const result = await client.callTool("slow", { steps: 3, milliseconds: 5 }, { onProgress });
        if (steps < 3) figures.wrong("progress was lost", `${steps} of 4 steps (${name})`);
        return expectText(result, /Took 3 steps/, figures, name);
      }
      case 2:
        return void (await client.listTools());
      case 3: {
        const { contents } = await client.readResource("everything://number/7");
        if (contents[0]?.text !== "7 is odd.") figures.wrong("a wrong resource", JSON.stringify(contents));
        return figures.count(`resources read, ${name}`);
      }
      case 4:
        return void (await client.callTool("touch"));
      case 5: {
        const cancel = new AbortController();
        const call = client.callTool("hang", {}, { signal: cancel.signal, onProgress: () => cancel.abort() });
        await call.then(
          () => figures.wrong("a cancelled call was answered", name),
          () => figures.count(`calls cancelled, ${name}`),
        );
        return;
      }
      default: {
        const message = `message ${Math.random()}`;
        return expectText(await client.callTool("echo", { message }), message, figures, name);
      }
    }
  } catch (error) {
    figures.wrong(`an error, ${name}`, error);
  }
}

function expectText({ content }, wanted, figures, name) {
  const [{ text } = { text: undefined }] = content;
  const right = typeof wanted === "string" ? text === wanted : wanted.test(text ?? "");
  if (right) figures.count(`calls answered right, ${name}`);
  else figures.wrong("a wrong answer", `${text} instead of ${wanted} (${name})`);
}

/** Opens sessions of every legacy revision, calls once, opens the stream of some, and leaves without a word. */
export async function leaver({ url, figures, signal }) {
  for (let turn = 0; !signal.aborted; turn++) {
    const revision = LEGACY[turn % LEGACY.length];
    const opened = await send("POST", url, {}, initialize(revision));
    const session = opened.headers["mcp-session-id"];
    await text(opened);
    if (opened.statusCode === 503) figures.error("no room for a session (503)", "maxSessions");
    else if (session === undefined) figures.wrong("a session was not opened", opened.statusCode);
    else {
      const version = revision >= "2025-06-18" ? { "mcp-protocol-version": revision } : {};
      const headers = { ...version, "mcp-session-id": session };
      const called = await send("POST", url, headers, call("echo", { message: revision }));
      if (!(await text(called)).includes(revision)) {
        figures.wrong("a wrong answer", `${revision}: ${called.statusCode}`);
      }
      if (turn % 5 === 0) (await send("GET", url, { ...headers, accept: "text/event-stream" })).destroy();
      figures.count("sessions left");
    }
    await pause(30, signal);
  }
}

/** Asks for much and reads nothing; the server has to let go of it. */
export async function slowReader({ url, figures, signal }) {
  while (!signal.aborted) {
    const key = crypto.randomUUID();
    const socket = await open(url);
    socket.pause();
    socket.write(httpPost(url, modern("tools/call", { name: "flood", arguments: { key } })));
    await pause(3000, signal);
    const asked = modern("tools/call", { name: "dropped", arguments: { key } });
    const answer = await text(await send("POST", url, metadataOf(asked), asked));
    figures.count(answer.includes("true") ? "slow readers dropped" : "slow readers that were served still");
    socket.destroy();
  }
}

/** Sends half a head, or half a body, and waits to be cut off. */
export async function halfOpen({ url, figures, signal }) {
  for (let turn = 0; !signal.aborted; turn++) {
    const socket = await open(url);
    const whole = httpPost(url, call("echo", { message: "never" }));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("data", () => {});
    socket.write(whole.slice(0, turn % 2 === 0 ? 40 : whole.length - 10));
    const inTime = await Promise.race([closed.then(() => true), delay(15_000, false)]);
    if (inTime) figures.count("half-open sockets cut off");
    else figures.wrong("a half-open socket stays", turn % 2 === 0 ? "half a head" : "half a body");
    socket.destroy();
  }
}

/** Goes away in the middle of a call, or of a stream, without closing anything. */
export async function vanisher({ url, figures, signal }) {
  for (let turn = 0; !signal.aborted; turn++) {
    const socket = await open(url);
    const begun = new Promise((resolve) => socket.once("data", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const { pathname } = new URL("/sse", url);
    if (turn % 2 === 0) {
      socket.write(httpPost(url, modern("tools/call", { name: "hang", arguments: {} })));
    } else
      socket.write(
        `GET ${pathname} HTTP/1.1\r\nHost: ${new URL(url).host}\r\nAccept: text/event-stream\r\n\r\n`,
      );
    await Promise.race([begun, closed]);
    socket.resetAndDestroy();
    figures.count("clients vanished");
    await pause(100, signal);
  }
}

function initialize(protocolVersion) {
  const clientInfo = { name: "soak", version: "1.0.0" };
  return request("initialize", { protocolVersion, capabilities: {}, clientInfo });
}

function call(name, args) {
  return request("tools/call", { name, arguments: args });
}

function modern(method, params) {
  const _meta = {
    progressToken: 1,
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return request(method, { ...params, _meta });
}

function request(method, params) {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** One request on a connection of its own; resolves when the response begins. */
function send(method, url, headers, body) {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, agent: false, headers: { ...HEADERS, ...headers } }, resolve);
    request.once("error", reject).end(body);
  });
}

/** What the headers of a modern request repeat of its body (streamable-http § Request Metadata). */
function metadataOf(body) {
  const { method, params } = JSON.parse(body);
  if (params._meta === undefined) return {};
  return { "mcp-protocol-version": MODERN, "mcp-method": method, "mcp-name": params.name };
}

/** The bytes of a POST, for who sends them by hand. */
function httpPost(url, body) {
  const { host, pathname } = new URL(url);
  const headers = { host, ...HEADERS, "content-length": Buffer.byteLength(body), ...metadataOf(body) };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${pathname} HTTP/1.1\r\n${head.join("")}\r\n${body}`;
}

function open(url) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = dial(Number(port), hostname, () => resolve(socket));
    socket.once("error", reject);
    socket.on("error", () => {});
  });
}
