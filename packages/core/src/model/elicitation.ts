/** Elicitation: a server asks the user, through the client (client/elicitation). */

import type { JsonSchema } from "../schema/json-schema.ts";
import type { Meta } from "./base.ts";

/** A form: a flat object of strings, numbers, booleans and choices. */
export interface ElicitFormParams {
  mode?: "form";
  message: string;
  requestedSchema: JsonSchema;
  _meta?: Meta;
}

/** A page to visit: what the user does there does not pass through the client. Since 2025-11-25. */
export interface ElicitUrlParams {
  mode: "url";
  message: string;
  url: string;
  /** 2025-11-25 only. */
  elicitationId?: string;
  _meta?: Meta;
}

export type ElicitParams = ElicitFormParams | ElicitUrlParams;

/** What the user did: `decline` and `cancel` are answers too. */
export interface ElicitResult {
  action: "accept" | "decline" | "cancel";
  /** With `accept` of a form. */
  content?: Record<string, string | number | boolean | string[] | undefined>;
  _meta?: Meta;
}
