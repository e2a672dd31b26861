/** `@server:uri` in a question: the resource is read, and goes along. */

import type { AskedMessage, Question } from "@patchbay/host";
import { toFailure, usage } from "../failure.ts";
import { visibleLine, visibleName } from "../visible.ts";
import { clientOf, type Room } from "./room.ts";

/** Names of servers are those that are there: `ann@example.com` and `@ann: hello` are no resources. */
const MENTION = /(?<=^|\s)@([^\s:]+):(\S+)/g;
/** What ends a sentence is no part of a URI. */
const END = /[.,;:!?)\]]+$/;
const MAX_MENTIONS = 20;

/**
 * The question, with the resources that it names.
 *
 * @throws Failure that names the resource that could not be read
 */
export async function withResources(text: string, room: Room, signal: AbortSignal): Promise<Question> {
  const mentioned = mentionsIn(text, room);
  if (mentioned.length === 0) return text;
  if (mentioned.length > MAX_MENTIONS)
    throw usage(`A question takes ${MAX_MENTIONS} resources along, not ${mentioned.length}.`);
  const read = await Promise.all(mentioned.map(({ server, uri }) => attached(server, uri, room, signal)));
  return [...read, { role: "user", content: [{ type: "text", text }] }];
}

function mentionsIn(text: string, { agent }: Room): { server: string; uri: string }[] {
  const found = new Map<string, { server: string; uri: string }>();
  for (const [, server = "", rest = ""] of text.matchAll(MENTION)) {
    const uri = rest.replace(END, "");
    if (uri !== "" && agent.clients.has(server)) found.set(`${server}:${uri}`, { server, uri });
  }
  return [...found.values()];
}

async function attached(server: string, uri: string, room: Room, signal: AbortSignal): Promise<AskedMessage> {
  const client = clientOf(server, room);
  const shown = `@${visibleName(server)}:${visibleLine(uri)}`;
  try {
    const { contents } = await client.readResource(uri, { signal });
    const size = contents.reduce((sum, each) => sum + ("text" in each ? each.text : each.blob).length, 0);
    room.context.output.note(`attached ${shown} (${size.toLocaleString("en")} characters)`);
    return {
      role: "user",
      content: contents.map((resource) => ({ type: "resource" as const, resource })),
      server,
      name: uri,
    };
  } catch (thrown) {
    signal.throwIfAborted();
    throw usage(
      `${shown} cannot be read: ${toFailure(thrown).message.replace(/\.$/, "")}. Nothing was asked.`,
    );
  }
}
