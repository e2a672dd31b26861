/** Why a command did not succeed, and the exit code that says so. */

import type { JsonValue } from "@patchbay/core";
import { visibleName } from "./visible.ts";

export const ExitCode = {
  ok: 0,
  /** The tool or the question failed. */
  failed: 1,
  /** The command line or the configuration is wrong. */
  usage: 2,
  /** A server could not be reached, or was lost. */
  connection: 3,
  /** 128 + SIGINT. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const;

export type FailureKind = "failed" | "usage" | "connection" | "interrupted" | "internal";

/** What `--json` prints as `{"error": …}`. */
export interface FailureDetails {
  /** The name that was probably meant. */
  suggestion?: string;
  /** The JSON-RPC code and data of a server's error. */
  code?: number;
  data?: JsonValue;
}

/** An error that is shown to the user as it is: its message says what was wrong, where, and what to do. */
export class Failure extends Error {
  readonly kind: FailureKind;
  readonly exitCode: number;
  readonly details: FailureDetails;

  constructor(
    kind: FailureKind,
    exitCode: number,
    message: string,
    details: FailureDetails = {},
    options: ErrorOptions = {},
  ) {
    super(message, options);
    this.name = "Failure";
    this.kind = kind;
    this.exitCode = exitCode;
    this.details = details;
  }
}

export function usage(message: string, suggestion?: string): Failure {
  if (suggestion === undefined) return new Failure("usage", ExitCode.usage, message);
  return new Failure("usage", ExitCode.usage, `${message} Did you mean "${visibleName(suggestion)}"?`, {
    suggestion,
  });
}

export function failed(message: string, details?: FailureDetails): Failure {
  return new Failure("failed", ExitCode.failed, message, details);
}

/** @param cause what the client threw: its `reason` says which part of connecting failed */
export function unreachable(message: string, cause?: unknown): Failure {
  return new Failure("connection", ExitCode.connection, message, {}, { cause });
}

/** Any thrown value as a failure. Errors of the protocol keep their code; nothing shows a stack. */
export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  if (!(thrown instanceof Error)) return new Failure("internal", ExitCode.failed, String(thrown));
  // By name: the classes live in packages that a wrong command line need not load.
  switch (thrown.name) {
    case "ConnectionError":
    case "AuthorizationError":
      return unreachable(thrown.message);
    case "ProtocolError":
    case "ResourceNotFoundError": {
      const { code, data } = thrown as Error & { code: number; data?: JsonValue };
      const hint = /^Missing client capability: elicitation/.test(thrown.message)
        ? ". The server wants to ask you something: run this in a terminal, without --json"
        : "";
      return failed(`${thrown.message}${hint}`, data === undefined ? { code } : { code, data });
    }
    case "HostError": {
      const wrong = (thrown as Error & { code: string }).code === "configuration";
      return wrong ? usage(thrown.message) : failed(thrown.message);
    }
    default:
      return failed(thrown.message);
  }
}
