/** Messages that are not what they should be: valid ones with something changed, any JSON, any bytes. */

import { eraOf, type Revision } from "@patchbay/core";
import fc from "fast-check";
import { INITIALIZE, type Json, MODERN_META } from "./wire.ts";

/** One text to send, and what it was made from. */
export interface Malformed {
  text: string;
  /** Instead of the text, where it is no text. */
  bytes?: Uint8Array<ArrayBuffer>;
  base?: Json;
}

/** How often there was an answer for an id, which is given as JSON text. */
export type Answered = Map<string, number>;

/** What an error must not show: a stack, or where the server's files are. */
export const TELLS_TOO_MUCH =
  /\bat (?:async )?\S+ \(|node_modules|node:internal|file:\/\/|\.[tj]s:\d+|packages\//;

/** Valid messages of a revision, one of each kind. */
export function baseMessages(revision: Revision): Json[] {
  const modern = eraOf(revision) === "modern";
  const methods: [string, Json][] = [
    ["tools/list", {}],
    ["tools/call", { name: "echo", arguments: { text: "a" } }],
    ["tools/call", { name: "later", arguments: { text: "a" }, _meta: { progressToken: "t" } }],
    ["resources/list", { cursor: "x" }],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "test://a" }],
    ["resources/read", { uri: "test://items/7" }],
    ["prompts/list", {}],
    ["prompts/get", { name: "greet", arguments: { name: "Ada" } }],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "name", value: "A" } },
    ],
    ...(modern
      ? ([
          ["server/discover", {}],
          [
            "subscriptions/listen",
            { notifications: { resourcesListChanged: true, resourceSubscriptions: ["test://a"] } },
          ],
          ["tools/call", { name: "asks", inputResponses: { 1: { action: "decline" } }, requestState: "x" }],
        ] as [string, Json][])
      : ([
          ["ping", {}],
          ["initialize", { ...INITIALIZE, protocolVersion: revision }],
          ["logging/setLevel", { level: "info" }],
          ["resources/subscribe", { uri: "test://a" }],
        ] as [string, Json][])),
  ];
  const requests = methods.map(([method, params], index) => ({
    jsonrpc: "2.0",
    id: index,
    method,
    params: modern ? { ...params, _meta: { ...MODERN_META, ...params._meta } } : params,
  }));
  return [
    ...requests,
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 999_999, reason: "r" } },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 7, result: { action: "accept", content: { sure: true } } },
    { jsonrpc: "2.0", id: 7, error: { code: -1, message: "no" } },
    [requests[0], requests[1]] as unknown as Json,
  ];
}

/** Keys that code may trip over. */
const key = fc.constantFrom(
  ...[
    "jsonrpc",
    "id",
    "method",
    "params",
    "name",
    "uri",
    "arguments",
    "_meta",
    "result",
    "error",
    "task",
    "level",
  ],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    "0",
    "progressToken",
    "cursor",
    "requestState",
  ],
);
const value = fc.oneof(
  key,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    "",
    [],
    {},
    "tools/call",
    "initialize",
    "2.0",
    [[]],
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Something malformed, mostly: a change may leave a message as valid as it was. */
export function malformed(bases: Json[]): fc.Arbitrary<Malformed> {
  const base = fc.constantFrom(...bases);
  const changedValue = fc
    .tuple(
      base,
      fc.array(fc.tuple(fc.nat(), key, value, fc.constantFrom("set", "delete", "add")), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.nat(),
    )
    .map(([base, changes, id]) => {
      const message = structuredClone(base);
      if (message.id !== undefined && !("result" in message || "error" in message)) message.id = 1000 + id;
      for (const [at, key, value, what] of changes) change(message, at, key, value, what);
      return { text: JSON.stringify(message), base };
    });
  const changedText = fc
    .tuple(base, fc.nat(), fc.nat(6), fc.string({ maxLength: 4 }))
    .map(([base, at, cut, put]) => {
      const text = JSON.stringify(base);
      const place = at % text.length;
      return { text: text.slice(0, place) + put + text.slice(place + cut), base };
    });
  const bytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => {
    const own = Uint8Array.from(bytes);
    return { text: new TextDecoder().decode(own), bytes: own };
  });
  return fc.oneof(
    { weight: 6, arbitrary: changedValue },
    { weight: 3, arbitrary: changedText },
    { weight: 1, arbitrary: fc.json({ maxDepth: 4 }).map((text) => ({ text })) },
    { weight: 1, arbitrary: bytes },
  );
}

/** Changes a member somewhere in a message. */
function change(message: Json, at: number, key: string, value: unknown, what: string): void {
  const places: [Json, string][] = [];
  const visit = (node: unknown) => {
    if (typeof node !== "object" || node === null) return;
    for (const member of Object.keys(node)) {
      places.push([node as Json, member]);
      visit((node as Json)[member]);
    }
  };
  visit(message);
  const [node, member] = places[at % places.length] ?? [message, key];
  if (what === "delete") delete node[member];
  else
    Object.defineProperty(node, what === "set" ? member : key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

/**
 * The requests in a text whose id can be read, which is given as JSON text, and what its notifications cancel. It reads
 * the specification, not the code: a response has a result or an error and no method, and is never answered.
 */
export function requestsIn(text: string, batches: boolean): { id?: string; cancels?: string }[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  const messages = Array.isArray(value) ? (batches ? value : []) : [value];
  return messages.flatMap((message: Json): { id?: string; cancels?: string }[] => {
    if (typeof message !== "object" || message === null || Array.isArray(message)) return [];
    const { id, method } = message;
    if (typeof id === "string" || Number.isInteger(id)) {
      const isResponse =
        method === undefined && (message.result !== undefined || message.error !== undefined);
      return isResponse ? [] : [{ id: JSON.stringify(id) }];
    }
    return method === "notifications/cancelled"
      ? [{ cancels: JSON.stringify(message.params?.requestId) }]
      : [];
  });
}
