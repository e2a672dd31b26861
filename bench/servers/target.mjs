/**
 * What clients are measured against: a server that costs less than any client. `echo` is answered from the text of the
 * request without parsing it; all else, the handshakes of both eras and the list of tools, is left to Patchbay.
 */

import { isModern } from "../messages.mjs";

const revision = process.argv[2];
const ending = isModern(revision) ? '"}],"resultType":"complete"}}' : '"}]}}';

/** The answer to `tools/call` of `echo`, if this is one whose text holds no escape. */
export function answerEcho(json) {
  if (!json.includes('"method":"tools/call"')) return undefined;
  const id = /"id":(\d+)/.exec(json)?.[1];
  const text = /"text":"([^"\\]*)"/.exec(json)?.[1];
  if (id === undefined || text === undefined) return undefined;
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}${ending}`;
}
