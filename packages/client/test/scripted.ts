/** A server in this process whose every answer a test writes itself; the channel is the real one. */

import {
  type ChannelServer,
  type JsonObject,
  type JsonValue,
  parseMessage,
  type RequestMessage,
  writeError,
  writeNotification,
  writeRequest,
  writeResult,
} from "@patchbay/core";

/** What a test may do about a request: return a result, throw `{ code, message }`, or say more first. */
export interface Asked extends RequestMessage {
  notify(method: string, params?: JsonObject): void;
  /** Asks the client something. */
  ask(id: string, method: string, params?: JsonObject): void;
  answer(result: JsonValue): void;
}

/** Answers requests by method; without a handler they are left unanswered. */
export type Script = Record<string, (asked: Asked) => JsonObject | undefined>;

export interface ScriptedServer extends ChannelServer {
  /** All that came in, as it was parsed. */
  readonly received: JsonObject[];
}

/** What a modern server says of itself. */
export const MODERN: Script = {
  "server/discover": () => ({
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
  }),
};

/** What a legacy server says of itself. */
export const LEGACY: Script = {
  "server/discover": () => {
    throw { code: -32601, message: "Method not found" };
  },
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
    serverInfo: { name: "scripted", version: "1" },
    instructions: "Be kind.",
  }),
};

export function scripted(script: Script): ScriptedServer {
  const received: JsonObject[] = [];
  return {
    received,
    serve(channel) {
      channel.listen(
        (text) => {
          received.push(JSON.parse(text));
          const message = parseMessage(text);
          if (message.kind !== "request") return;
          const answer = (result: JsonValue) => channel.send(writeResult(message.id, JSON.stringify(result)));
          const notify = (method: string, params?: JsonObject) =>
            channel.send(writeNotification(method, params));
          const ask = (id: string, method: string, params?: JsonObject) =>
            channel.send(writeRequest(id, method, params));
          try {
            const result = script[message.method]?.({ ...message, notify, ask, answer });
            if (result !== undefined) answer(result);
          } catch (error) {
            channel.send(writeError(message.id, error as { code: number; message: string }));
          }
        },
        () => {},
      );
    },
  };
}
