/** A request's answer as text, whatever became of it. */

import {
  InvalidArgumentsError,
  ProtocolError,
  type RequestId,
  type Wire,
  writeError,
  writeResult,
} from "@patchbay/core";
import type { Reply } from "./dispatch.ts";
import { failure } from "./features/tools.ts";
import { ReadyPage } from "./listing.ts";
import type { McpServer } from "./server.ts";

/** The text of a response, and the code of its error if it is one. */
export interface Answer {
  text: string;
  errorCode: number | undefined;
}

/** Runs the work and writes what it gave. Never throws and never rejects. */
export function answer(
  server: McpServer,
  wire: Wire,
  id: RequestId,
  method: string,
  work: () => Reply | Promise<Reply>,
): Answer | Promise<Answer> {
  const failed = (thrown: unknown): Answer => {
    if (thrown instanceof InvalidArgumentsError && wire.wrongArgumentsAreResults) {
      return succeeded(failure(thrown.message));
    }
    if (!(thrown instanceof ProtocolError)) server.report(thrown, method);
    return errorAnswer(wire, id, thrown);
  };
  const succeeded = (reply: Reply): Answer => {
    try {
      return { text: writeResult(id, writeReply(server, wire, reply)), errorCode: undefined };
    } catch (thrown) {
      return failed(thrown);
    }
  };
  try {
    const reply = work();
    return reply instanceof Promise ? reply.then(succeeded, failed) : succeeded(reply);
  } catch (thrown) {
    return failed(thrown);
  }
}

/** The answer to a request that cannot be carried out. */
export function errorAnswer(wire: Wire, id: RequestId | undefined, thrown: unknown): Answer {
  const error = wire.error(thrown);
  return { text: writeError(id, error), errorCode: error.code };
}

function writeReply(server: McpServer, wire: Wire, reply: Reply): string {
  return reply instanceof ReadyPage
    ? reply.textFor(wire, server.cache, server.serverMeta)
    : wire.writeResult(reply, server.serverMeta);
}
