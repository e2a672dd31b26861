/** What a server may ask of a client: pushed as a request before 2026-07-28, `input_required` since (basic/patterns/mrtr). */

import type { JsonObject } from "../json.ts";
import type { Result } from "./base.ts";
import type { ClientCapabilities } from "./capabilities.ts";
import type { ElicitParams } from "./elicitation.ts";
import type { CreateMessageParams } from "./sampling.ts";

/** One thing asked. */
export type InputRequest =
  | { method: "elicitation/create"; params: ElicitParams }
  | { method: "sampling/createMessage"; params: CreateMessageParams }
  | { method: "roots/list"; params?: JsonObject };

/** By the server's own keys, which come back with the answers. */
export type InputRequests = Record<string, InputRequest>;
export type InputResponses = Record<string, JsonObject>;

/** The request has to be sent again, with the answers and the state. */
export interface InputRequiredResult extends Result {
  resultType: "input_required";
  inputRequests?: InputRequests;
  /** Means something to the server only. */
  requestState?: string;
}

/** What a client must have declared to be asked this; nothing when it has (client/elicitation, client/sampling). */
export function missingCapability(
  request: InputRequest,
  capabilities: ClientCapabilities,
): ClientCapabilities | undefined {
  switch (request.method) {
    case "roots/list":
      return capabilities.roots === undefined ? { roots: {} } : undefined;
    case "sampling/createMessage": {
      const { sampling } = capabilities;
      if (sampling === undefined) return { sampling: {} };
      const { tools, toolChoice } = request.params;
      const needsTools = tools !== undefined || toolChoice !== undefined;
      return needsTools && sampling.tools === undefined ? { sampling: { tools: {} } } : undefined;
    }
    case "elicitation/create": {
      const { elicitation } = capabilities;
      const url = request.params.mode === "url";
      if (elicitation === undefined) return { elicitation: url ? { url: {} } : {} };
      if (url) return elicitation.url === undefined ? { elicitation: { url: {} } } : undefined;
      // A client that names no mode means forms.
      return elicitation.form === undefined && elicitation.url !== undefined
        ? { elicitation: { form: {} } }
        : undefined;
    }
  }
}
