/** What a provider's failure means, in one sentence. The provider's own text is never shown: it may hold a key. */

import { HostError } from "../errors.ts";
import type { ProviderSettings } from "./providers.ts";

interface Fault {
  name?: string;
  message?: string;
  status?: number;
  code?: unknown;
  type?: unknown;
  cause?: Fault;
  error?: Fault;
}

/** Explains what the package of `provider` threw. */
export function explainFault(thrown: unknown, provider: string, settings: ProviderSettings): HostError {
  const fault = (typeof thrown === "object" && thrown !== null ? thrown : {}) as Fault;
  const text = String(fault.message ?? "");
  const where = origin(settings.baseUrl);
  const fail = (message: string, variable?: string) => new HostError("model", message, variable);
  if (isContextOverflow(fault, text)) {
    return fail(
      `The conversation is too long for ${settings.model}: begin a new one, or set MODEL to a larger model.`,
      "MODEL",
    );
  }
  const { status } = fault;
  switch (status) {
    case 401:
    case 403: {
      const variable = settings.key?.variable ?? "API_KEY";
      const what = settings.key === undefined ? "wants a key" : `refused the key in ${variable}`;
      return fail(
        `${provider} ${what} (${status}): set ${variable} to a key that is valid at ${where}.`,
        variable,
      );
    }
    case 402:
      return fail(`${provider} says that the account has no balance left (402).`, settings.key?.variable);
    case 404:
      return fail(
        `${provider} knows no model "${settings.model}" at ${where} (404): check MODEL and BASE_URL.`,
        "MODEL",
      );
    case 408:
    case 504:
      return fail(`${provider} took too long (${status}): try again.`);
    case 413:
      return fail(`${provider} says that the request is too large (413): begin a new conversation.`);
    case 429:
      return fail(
        `${provider} is refusing requests for now (429): too many at once, or the quota is used up. Try again later.`,
      );
  }
  if (status !== undefined && status >= 500) {
    return fail(`${provider} is failing (${status}): try again later.`);
  }
  if (status !== undefined) {
    return fail(`${provider} refused the request (${status}${token(fault)}) for ${settings.model}.`);
  }
  const code = systemCode(fault);
  if (isTimeout(fault, code)) {
    return fail(
      `${provider} gave no sign of life within MODEL_TIMEOUT_MS (${settings.timeoutMs} ms).`,
      "MODEL_TIMEOUT_MS",
    );
  }
  if (code !== undefined || /connection error|fetch failed/i.test(text)) {
    return fail(
      `Cannot reach ${provider} at ${where}${code === undefined ? "" : ` (${code})`}: check the network and BASE_URL.`,
      "BASE_URL",
    );
  }
  if (/^(temperature|topP|topK) is not supported/.test(text)) {
    return new HostError(
      "configuration",
      `${settings.model} takes no temperature: unset MODEL_TEMPERATURE.`,
      "MODEL_TEMPERATURE",
    );
  }
  return fail(`${provider} at ${where} gave something that is no answer${token(fault)}.`);
}

/** A provider's own word for it (`invalid_request_error`), if it is a plain word and nothing more. */
function token(fault: Fault): string {
  for (const word of [
    fault.code,
    fault.error?.code,
    fault.type,
    fault.error?.type,
    fault.error?.error?.type,
  ]) {
    if (typeof word === "string" && /^[a-z]+(_[a-z]+)*$/.test(word) && word.length <= 48) return `, ${word}`;
  }
  return "";
}

function isContextOverflow(fault: Fault, text: string): boolean {
  return (
    fault.name === "ContextOverflowError" ||
    fault.code === "context_length_exceeded" ||
    /maximum context length|context window|prompt is too long/i.test(text)
  );
}

function isTimeout(fault: Fault, code: string | undefined): boolean {
  return (
    fault.name === "TimeoutError" || /timed out/i.test(String(fault.message ?? "")) || code === "ETIMEDOUT"
  );
}

function systemCode(fault: Fault): string | undefined {
  for (
    let at: Fault | undefined = fault, depth = 0;
    at !== undefined && at !== null && depth < 8;
    at = at.cause, depth++
  ) {
    if (typeof at.code === "string" && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(at.code)) return at.code;
  }
  return undefined;
}

/** The base URL without what could hide a secret: user, query, fragment. */
export function origin(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/$/, "")}`;
}
