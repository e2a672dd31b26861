/** What went wrong over HTTP, in words that say what to do. */

import { type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import { ProtocolError, parseMessage } from "@patchbay/core";
import { ConnectionError, readable } from "../errors.ts";

/**
 * The error for a status that is no success. A 4xx with a JSON-RPC error is the server's own answer;
 * of who may ask (401, 403) and of failures (5xx) the status tells more.
 */
export function refusal(
  serverName: string,
  status: number,
  headers: IncomingHttpHeaders,
  body: string,
): ConnectionError | ProtocolError {
  const message = parseMessage(body);
  const answer =
    message.kind === "error"
      ? new ProtocolError(message.error.code, readable(message.error.message, 2_000), message.error.data)
      : undefined;
  const wanted = retryAfterOf(status, headers);
  if (answer !== undefined && status < 500 && status !== 401 && status !== 403 && wanted === undefined)
    return answer;
  const name = STATUS_CODES[status];
  const what = `${serverName} answered ${status}${name === undefined ? "" : ` ${name}`}`;
  const said = answer === undefined ? "" : ` (${answer.message})`;
  return new ConnectionError("refused", `${what}${said}${advice(status, headers)}`, {
    status,
    cause: answer,
    // A refusal is no attempt; who failed may have got somewhere, unless it is only busy, and says until when.
    mayHaveRun: status >= 500 && wanted === undefined,
    retryAfter: wanted,
  });
}

/**
 * Whether a refusal says that the session is not known. That is a 404 (2025-11-25, basic/transports § Session
 * Management); servers made after the official examples answer 400, and say it in words. Either is told before anything
 * is done.
 */
export function isSessionUnknown(status: number, body: string): boolean {
  return status === 404 || (status === 400 && UNKNOWN_SESSION.test(body.slice(0, 2_000)));
}

const UNKNOWN_SESSION =
  /\b(?:no valid|invalid|unknown|expired)\b[^"]{0,40}\bsession|\bsession[^"]{0,60}\b(?:not found|unknown|expired|invalid|does not exist)\b|\bserver not initialized\b/i;

/**
 * Milliseconds after which who is busy wants to be asked again (RFC 9110 § Retry-After).
 *
 * @returns nothing where it is not said, or the status is none of who is busy (429, 503)
 */
export function retryAfterOf(status: number, headers: IncomingHttpHeaders): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (value === undefined || (status !== 429 && status !== 503)) return undefined;
  if (/^\d{1,12}$/.test(value)) return Number(value) * 1_000;
  // What else can be read as a date is not meant as one: "-5" is the year 2001 to some.
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** As dates are sent (RFC 9110 § Date/Time Formats); the third shape there has not been for long. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}, [\w :-]+ GMT$/;

function advice(status: number, headers: IncomingHttpHeaders): string {
  const { location } = headers;
  if (status >= 300 && status < 400) {
    const to = location === undefined ? "nowhere" : readable(location.split(/[?#]/, 1)[0] as string, 200);
    return `: it redirects to ${to}, which is not followed; connect to that URL if you trust it`;
  }
  switch (status) {
    case 401:
      return ": it wants to know who you are; log in (auth), or give it an Authorization header";
    case 403:
      return ": you may not use it; check the credentials, and that the server allows this host and origin";
    case 404:
    case 405:
      return ": there is no MCP endpoint at this path; many servers have it at /mcp";
    case 429:
      return `: too many requests; ${whenOf(status, headers)}`;
    case 502:
    case 504:
      return ": what stands before the server has no answer of it; it may be restarting";
    case 503:
      return `: it is busy, or restarting; ${whenOf(status, headers)}`;
    default:
      return status >= 500 ? ": the server failed; its own log says why" : "";
  }
}

function whenOf(status: number, headers: IncomingHttpHeaders): string {
  const wanted = retryAfterOf(status, headers);
  return wanted === undefined ? "wait, then try again" : `try again after ${Math.ceil(wanted / 1_000)} s`;
}

const NOT_FOUND = new Set(["ENOTFOUND", "EAI_AGAIN"]);
const NO_ROUTE = new Set(["EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"]);
const TLS = /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO/;
const WRONG_TLS = /EPROTO|ERR_SSL_WRONG_VERSION_NUMBER/;
const CUT = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The error for a connection that could not be made, or broke. */
export function networkFailure(serverName: string, error: Error): ConnectionError {
  if (error instanceof ConnectionError) return error;
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  // While connecting nothing has been sent.
  const connecting =
    syscall === "connect" ||
    code === "ECONNREFUSED" ||
    NOT_FOUND.has(code) ||
    code === "UND_ERR_CONNECT_TIMEOUT" ||
    TLS.test(code);
  const told = (reason: "unreachable" | "closed" | "not-mcp", what: string) =>
    new ConnectionError(reason, `${serverName}: ${what}`, { cause: error, mayHaveRun: !connecting });
  if (code === "ECONNREFUSED") {
    return told("unreachable", "nothing listens there; is the server running, and the port right?");
  }
  if (NOT_FOUND.has(code)) return told("unreachable", "there is no host of this name");
  if (NO_ROUTE.has(code)) return told("unreachable", `the host does not answer (${code})`);
  if (WRONG_TLS.test(code)) {
    return told("unreachable", "it does not speak TLS; try http:// instead of https://");
  }
  if (TLS.test(code)) {
    const what = `its certificate is not trusted (${code}); NODE_EXTRA_CA_CERTS names a file of your own authorities`;
    return told("unreachable", what);
  }
  if (error.name === "HTTPParserError")
    return told("not-mcp", "what answers there is not HTTP; is it https://, or another port?");
  if (CUT.has(code)) return told("closed", "it closed the connection without an answer");
  return told("unreachable", `the request failed: ${readable(error.message, 200)}`);
}
