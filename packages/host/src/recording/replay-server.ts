/** A server out of a recording: it answers as the recorded one did, and tells and asks what that did meanwhile. */

import {
  type Channel,
  type ChannelServer,
  canonicalJson,
  isObject,
  type JsonObject,
  type JsonValue,
} from "@patchbay/core";
import type { Recording } from "./format.ts";

/** Is told where the turn goes another way than the recorded one. */
export type OnDifference = (difference: string) => void;

/** A request that was recorded, and what came until it was answered. */
interface Recorded {
  method: string;
  /** Its params, but what differs each time. */
  key: string;
  progressToken: JsonValue | undefined;
  /** What the server told or asked meanwhile, in order. */
  meanwhile: JsonObject[];
  answer: JsonObject | undefined;
  used: boolean;
}

/** Requests that open a connection are answered whoever asks. */
const OPENINGS = new Set(["server/discover", "initialize", "ping"]);
const NOT_RECORDED = -32603;

/** @param server by its name in the recording */
export function replayServer(
  recording: Recording,
  server: string,
  onDifference: OnDifference,
): ChannelServer {
  const recorded = requestsOf(recording, server);
  return { serve: (channel) => new Replay(channel, recorded, server, onDifference).listen() };
}

function requestsOf({ entries }: Recording, server: string): Recorded[] {
  const all: Recorded[] = [];
  const open = new Map<unknown, Recorded>();
  for (const entry of entries) {
    if (entry.type !== "message" || entry.server !== server) continue;
    const { direction, message } = entry;
    const { id, method, params } = message;
    if (direction === "sent") {
      if (typeof method !== "string" || id === undefined) continue;
      const request: Recorded = {
        method,
        key: keyOf(params),
        progressToken: tokenOf(params),
        meanwhile: [],
        answer: undefined,
        used: false,
      };
      all.push(request);
      open.set(id, request);
    } else if (method === undefined) {
      const request = open.get(id);
      if (request === undefined) continue;
      const { result, error } = message;
      request.answer = result === undefined ? { error: error as JsonValue } : { result };
      open.delete(id);
    } else {
      meantFor(message, [...open.values()])?.meanwhile.push(message);
    }
  }
  return all;
}

/** The request that a message of the server's came for: its progress tells; else the first call that runs. */
function meantFor({ method, params }: JsonObject, open: Recorded[]): Recorded | undefined {
  if (method === "notifications/progress" && isObject(params))
    return open.find(({ progressToken }) => progressToken === params.progressToken);
  return open.find((request) => request.method === "tools/call") ?? open[0];
}

/** Params without `_meta`: tokens and ids in it are others each time, and who asks may be too. */
function keyOf(params: unknown): string {
  if (!isObject(params)) return "{}";
  const { _meta, ...own } = params;
  return canonicalJson(own as JsonValue);
}

function tokenOf(params: unknown): JsonValue | undefined {
  return isObject(params) && isObject(params._meta) ? (params._meta.progressToken as JsonValue) : undefined;
}

class Replay {
  readonly #channel: Channel;
  readonly #recorded: Recorded[];
  readonly #server: string;
  readonly #onDifference: OnDifference;
  /** Questions of the server's that are not answered yet. */
  readonly #asked = new Map<unknown, () => void>();
  #lastId = 0;

  constructor(channel: Channel, recorded: Recorded[], server: string, onDifference: OnDifference) {
    this.#channel = channel;
    this.#recorded = recorded;
    this.#server = server;
    this.#onDifference = onDifference;
  }

  listen(): void {
    this.#channel.listen(
      (text) => {
        const message = JSON.parse(text) as JsonObject;
        if (message.method === undefined) this.#asked.get(message.id)?.();
        else if (message.id !== undefined) void this.#answer(message);
      },
      () => {
        for (const settle of this.#asked.values()) settle();
      },
    );
  }

  async #answer({ id, method, params }: JsonObject): Promise<void> {
    const found = this.#find(method as string, params);
    if (found?.answer === undefined) {
      const what = `"${this.#server}" was not asked ${String(method)}${found === undefined ? " so" : ""} in the recording`;
      const why = found === undefined ? what : `${what.replace("was not asked", "did not answer")}`;
      if (found === undefined && !OPENINGS.has(method as string))
        this.#onDifference(`${why}: ${keyOf(params)}`);
      return this.#send({ id: id as JsonValue, error: { code: NOT_RECORDED, message: why } });
    }
    found.used = true;
    for (const message of found.meanwhile) {
      if (message.id === undefined) this.#tell(message, params);
      else await this.#ask(message);
    }
    this.#send({ id: id as JsonValue, ...found.answer });
  }

  #find(method: string, params: unknown): Recorded | undefined {
    const same = this.#recorded.filter((each) => each.method === method);
    if (OPENINGS.has(method)) return same.at(-1);
    const key = keyOf(params);
    // What is listed may be listed again: the client of the recording had it at hand.
    return (
      same.find((each) => !each.used && each.key === key) ??
      (method === "tools/call" ? undefined : same.findLast((each) => each.key === key))
    );
  }

  #tell(message: JsonObject, params: unknown): void {
    const token = tokenOf(params);
    if (message.method !== "notifications/progress" || !isObject(message.params)) return this.#send(message);
    if (token !== undefined) this.#send({ ...message, params: { ...message.params, progressToken: token } });
  }

  /** Resolves when it is answered. */
  #ask({ method, params }: JsonObject): Promise<void> {
    const id = `replayed-${++this.#lastId}`;
    return new Promise((resolve) => {
      this.#asked.set(id, () => {
        this.#asked.delete(id);
        resolve();
      });
      this.#send({ id, method, params } as JsonObject);
    });
  }

  #send(message: JsonObject): void {
    this.#channel.send(JSON.stringify({ ...message, jsonrpc: "2.0" }));
  }
}
