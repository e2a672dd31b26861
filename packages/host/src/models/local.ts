/** Looks for a local OpenAI-compatible server: Ollama, LM Studio, llama.cpp. */

import { once } from "node:events";
import { connect } from "node:net";
import { isObject, parseJson } from "@patchbay/core";

export interface LocalServer {
  title: string;
  /** `http://127.0.0.1:11434/v1` */
  baseUrl: string;
}

export interface LocalModels extends LocalServer {
  /** The models that can hold a conversation, as the server names them; at least one. */
  models: string[];
}

/** Where such servers listen by default, in the order of preference. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  { title: "Ollama", baseUrl: "http://127.0.0.1:11434/v1" },
  { title: "LM Studio", baseUrl: "http://127.0.0.1:1234/v1" },
  { title: "llama.cpp", baseUrl: "http://127.0.0.1:8080/v1" },
];

/** Whether anybody listens is known at once; a server that does may be busy with a model, and so may we. */
const CONNECT_TIMEOUT_MS = 300;
const ANSWER_TIMEOUT_MS = 2000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const NOT_FOR_CHAT = /embed|rerank|whisper|\btts\b|\bbge\b|minilm|clip|moderation/i;

/** Asks all of them at once; gives the servers that answered as such a server does. */
export async function findLocalModels(
  servers: readonly LocalServer[] = LOCAL_SERVERS,
): Promise<LocalModels[]> {
  const found = await Promise.all(servers.map(probe));
  return found.filter((server) => server !== undefined);
}

async function probe(server: LocalServer): Promise<LocalModels | undefined> {
  try {
    await listens(new URL(server.baseUrl), AbortSignal.timeout(CONNECT_TIMEOUT_MS));
    const response = await fetch(`${server.baseUrl}/models`, {
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      redirect: "error",
      headers: { accept: "application/json" },
    });
    if (response.status !== 200 || response.body === null) {
      await response.body?.cancel();
      return undefined;
    }
    const models = modelsIn(parseJson(await readAtMost(response.body, MAX_ANSWER_BYTES)));
    return models.length === 0 ? undefined : { ...server, models };
  } catch {
    // Nobody there, too slow, or something else listens on that port: all the same here.
    return undefined;
  }
}

/** Throws where nobody listens: that is the usual case, and known before `fetch` has even loaded what it needs. */
async function listens({ protocol, hostname, port }: URL, signal: AbortSignal): Promise<void> {
  const usualPort = protocol === "https:" ? 443 : 80;
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || usualPort, signal });
  try {
    await once(socket, "connect", { signal });
  } finally {
    socket.destroy();
  }
}

async function readAtMost(body: ReadableStream<Uint8Array>, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > limit) throw new RangeError("too large for a list of models");
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The ids in `{object: "list", data: [{id}]}`; none when the answer has another shape. */
function modelsIn(answer: unknown): string[] {
  if (!isObject(answer) || answer.object !== "list" || !Array.isArray(answer.data)) return [];
  return answer.data
    .map((model) => (isObject(model) ? model.id : undefined))
    .filter(
      (id): id is string =>
        typeof id === "string" && /^[\x21-\x7e]{1,256}$/.test(id) && !NOT_FOR_CHAT.test(id),
    );
}
