/** The methods of the modern era: those of both, and `server/discover`. */

import { type DiscoverResult, MODERN_REVISIONS, type RequestMessage } from "@patchbay/core";
import type { Reply } from "../dispatch.ts";
import { Call, type Caller } from "../exchange.ts";
import type { McpServer } from "../server.ts";
import { modernTaskReply, taskMaker } from "../tasks/modern.ts";
import { RESUMABLE, Resumption } from "./resumption.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** The call of a modern request. */
export function modernCall(
  server: McpServer,
  { method, params }: RequestMessage,
  caller: Caller,
  send: (text: string) => void,
): Call {
  return new Call(caller, send, (call) =>
    Resumption.begin(call, method, params, server.sealer, server.resumption),
  );
}

export function modernReply(
  server: McpServer,
  request: RequestMessage,
  call: Call,
  subscriptions: Subscriptions,
): Reply | Promise<Reply> {
  const { method, params } = request;
  return server.through(method, params, call, () => carryOut(server, request, call, subscriptions));
}

function carryOut(
  server: McpServer,
  request: RequestMessage,
  call: Call,
  subscriptions: Subscriptions,
): Reply | Promise<Reply> {
  const { method, params } = request;
  switch (method) {
    case "server/discover":
      return discover(server, call);
    case "subscriptions/listen":
      return subscriptions.listen(server, request, call);
    case "tools/call":
      if (server.tasks.offered) call.tasks = taskMaker(server, call);
      break;
    case "tasks/get":
    case "tasks/update":
    case "tasks/cancel":
      if (server.tasks.offered) return modernTaskReply(server, method, params, call);
  }
  const retry = params.requestState !== undefined && RESUMABLE.has(method);
  return retry ? resumed(server, request, call) : server.handle(method, params, call);
}

async function resumed(server: McpServer, { method, params }: RequestMessage, call: Call): Promise<Reply> {
  call.dialogue = await Resumption.resume(
    call,
    method,
    params,
    server.sealer,
    server.resumption,
    server.goesOnOnce(method, params),
  );
  return server.handle(method, params, call);
}

/** Answers `server/discover` (server/discover). */
function discover(server: McpServer, call: Call): DiscoverResult {
  return {
    supportedVersions: [...MODERN_REVISIONS],
    capabilities: server.capabilities,
    ...(server.instructions !== undefined && { instructions: server.instructions }),
    ...server.cacheFor(call),
  };
}
