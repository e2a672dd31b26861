/** What went wrong on the way to a token, in words that say what to do, and that hold no secret. */

import { isObject } from "@patchbay/core";
import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from "oauth4webapi";
import { AuthorizationError, type AuthorizationStep, readable } from "../errors.ts";
import { ReachError } from "./reach.ts";

/**
 * Does one step.
 *
 * @param who is asked in it, as errors name it
 * @throws AuthorizationError for whatever goes wrong; a signal's reason when it was given up
 */
export async function step<T>(
  name: AuthorizationStep,
  who: string,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw await toAuthorizationError(name, who, error);
  }
}

/** What the libraries throw carries the answer that they did not take, and in it tokens: it is not passed on. */
async function toAuthorizationError(
  name: AuthorizationStep,
  who: string,
  error: unknown,
): Promise<AuthorizationError> {
  if (error instanceof AuthorizationError) return error;
  if (error instanceof ReachError) return new AuthorizationError(name, error.message);
  const said = await saidBy(error);
  if (said !== undefined) {
    const { code, description } = said;
    const more = description === undefined ? "" : `: ${readable(description)}`;
    return new AuthorizationError(name, `${who} answered ${readable(code, 60)}${more}${advice(code)}`, {
      code,
    });
  }
  const what = error instanceof Error ? readable(error.message) : "an unknown failure";
  return new AuthorizationError(name, `${who} gave an answer that cannot be used: ${what}`);
}

/** The authorization server's own error. */
async function saidBy(
  error: unknown,
): Promise<{ code: string; description: string | undefined } | undefined> {
  if (error instanceof ResponseBodyError || error instanceof AuthorizationResponseError)
    return { code: error.error, description: error.error_description };
  if (!(error instanceof WWWAuthenticateChallengeError)) return undefined;
  const body: unknown = await error.response.json().catch(() => undefined);
  const { error: code, error_description: description } = isObject(body) ? body : {};
  return {
    code: typeof code === "string" ? code : "invalid_client",
    description: typeof description === "string" ? description : undefined,
  };
}

function advice(code: string): string {
  switch (code) {
    case "access_denied":
      return "; the login was declined";
    case "invalid_redirect_uri":
      return "; it does not allow to be sent back to this address: register a client there, and give its clientId";
    case "invalid_client":
    case "unauthorized_client":
      return "; check clientId and clientSecret, and that this client may use this grant";
    case "invalid_scope":
      return "; it does not give one of the scopes that were asked for";
    case "invalid_target":
      return "; it does not know this server as one that it gives tokens for";
    default:
      return "";
  }
}
