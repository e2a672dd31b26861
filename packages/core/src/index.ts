/** The protocol without I/O: what servers and clients of every revision share. */

export * from "./channel.ts";
export * from "./errors.ts";
export * from "./fingerprint.ts";
export * from "./framing/header-value.ts";
export * from "./framing/ndjson.ts";
export * from "./framing/sse.ts";
export * from "./json.ts";
export * from "./jsonrpc.ts";
export * from "./meta.ts";
export * from "./model/base.ts";
export * from "./model/capabilities.ts";
export * from "./model/completion.ts";
export * from "./model/content.ts";
export * from "./model/elicitation.ts";
export * from "./model/input.ts";
export * from "./model/prompts.ts";
export * from "./model/resources.ts";
export * from "./model/roots.ts";
export * from "./model/sampling.ts";
export * from "./model/tools.ts";
export * from "./nearest.ts";
export * from "./revisions.ts";
export * from "./schema/json-schema.ts";
export * from "./schema/mirror.ts";
export * from "./schema/standard-schema.ts";
export { type Wire, wireOf } from "./wire/wire.ts";
