/** What goes wrong with PostgreSQL, in words that may be shown: no URL, no password, no path. */

import { DatabaseError, type DatabaseLimits, limitExceeded } from "../limits.ts";

/** The fields of an error that the server sent, as far as they are used. */
interface ServerError extends Error {
  code: string;
  severity: string;
  detail?: string;
  hint?: string;
  position?: string;
}

/** Statement timeouts and cancellations. */
const CANCELED = "57014";

export function timedOut(limits: DatabaseLimits): DatabaseError {
  return limitExceeded("timeout", limits, "the statement took longer", "ask for less, or use an index");
}

/** @throws DatabaseError always */
export function explained(error: unknown, limits?: DatabaseLimits): never {
  if (error instanceof DatabaseError) throw error;
  if (isServerError(error)) {
    if (error.code === CANCELED && limits !== undefined && /timeout/.test(error.message)) {
      throw timedOut(limits);
    }
    throw new DatabaseError(told(error), { cause: error });
  }
  const { code, message = "" } = (error ?? {}) as { code?: unknown; message?: string };
  const why =
    typeof code === "string"
      ? code
      : /timeout/.test(message)
        ? "it did not answer"
        : "the connection was lost";
  throw new DatabaseError(`the database cannot be reached: ${why}; try again later`, { cause: error });
}

/**
 * What went wrong with a commit: the database says that it is not made, or nobody knows.
 *
 * @throws DatabaseError always
 */
export function uncertain(error: unknown): never {
  if (isServerError(error) && error.severity === "ERROR") throw explained(error);
  throw new DatabaseError(
    "whether the change was made is not known: the connection was lost while it was committed; look at the data before you try again",
    { cause: error },
  );
}

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

function told({ message, code, detail, hint, position }: ServerError): string {
  const where = position === undefined ? "" : ` at character ${position}`;
  const more = [detail, hint].filter((part) => part !== undefined).map((part) => `; ${part}`);
  return `${message} (${code})${where}${more.join("")}`;
}

/** Takes what was put before a statement off the place that an error tells. */
export function shifted(error: unknown, by: number): unknown {
  if (isServerError(error) && error.position !== undefined) {
    error.position = String(Math.max(1, Number(error.position) - by));
  }
  return error;
}
