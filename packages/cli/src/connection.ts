/** A client for as long as one piece of work takes. */

import { type Client, type ConnectOptions, connect } from "@patchbay/client";
import type { Context, ServerOptions } from "./context.ts";
import { authFor, takesLogin } from "./credentials.ts";
import { canAsk } from "./dialog.ts";
import { Failure, toFailure, unreachable } from "./failure.ts";
import { askUser } from "./questions.ts";
import { findTarget, type Target } from "./targets.ts";
import { VERSION } from "./version.ts";
import { visibleLine, visibleName } from "./visible.ts";

export interface Connection {
  client: Client;
  target: Target;
  /** Whether it uses what a login left behind. */
  authorized: boolean;
  /** What every request of this connection is made with. */
  request: { signal: AbortSignal };
}

/**
 * Connects to the server that the user named, works, and closes, whatever comes: no child is left.
 *
 * @throws Failure (connection) when the server cannot be reached
 */
export async function withServer<T>(
  name: string | undefined,
  options: ServerOptions,
  context: Context,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const target = await findTarget(name, options, context);
  // Who works on a terminal can be asked; what a program reads must not wait for a person.
  const asks = canAsk() && !context.output.json;
  const answers: Answers = asks
    ? {
        onElicit: (params, { signal }) =>
          askUser(target.name, params, AbortSignal.any([signal, context.signal])),
      }
    : {};
  const connection = await open(target, options, context, answers);
  try {
    return await work(connection);
  } catch (thrown) {
    const hint = loginHint(thrown, target);
    if (hint === "") throw thrown;
    throw unreachable(context.output.without(toFailure(thrown).message) + hint);
  } finally {
    await connection.client.close();
  }
}

/** Who answers what the server asks. */
type Answers = Pick<ConnectOptions, "onElicit" | "onSample" | "roots" | "onSessionLost"> & {
  /** Looks on. */
  onMessage?: ConnectOptions["onMessage"] | undefined;
  middleware?: ConnectOptions["middleware"];
};

/** Milliseconds that a request may take in all, however much progress it reports. */
const MAX_TIMEOUT = 600_000;

/** Milliseconds after which the user is told what is waited for. */
const PATIENCE = 3_000;

/** Connects; the caller closes. */
export async function open(
  target: Target,
  options: ServerOptions,
  context: Context,
  answers: Answers = {},
): Promise<Connection> {
  const { output, signal } = context;
  const timeout = options.timeout ?? target.timeout;
  const shown = visibleName(target.name);
  const patience = setTimeout(() => output.progress(`${shown} has not answered yet …`), PATIENCE);
  try {
    const auth = await authFor(target, (text) => output.warn(text));
    const client = await connect(target.to, {
      ...(auth && { auth }),
      clientInfo: { name: "patchbay", version: VERSION },
      signal,
      ...answers,
      connectTimeout: options.timeout,
      timeout,
      maxTimeout: timeout === undefined ? undefined : Math.max(timeout, MAX_TIMEOUT),
      logLevel: output.verbose ? "debug" : "warning",
      onLog: ({ level, logger, data }) => {
        const text = typeof data === "string" ? data : JSON.stringify(data);
        const about = logger === undefined ? "" : `${visibleName(String(logger))}: `;
        // What it says on further lines stands below its name.
        output.note(`${shown}: ${level}: ${about}${text.replaceAll("\n", "\n  ")}`);
      },
      onStderr: output.verbose ? (line) => output.note(`${shown}: ${visibleLine(line)}`) : undefined,
    });
    return { client, target, authorized: auth !== undefined, request: { signal } };
  } catch (thrown) {
    if (signal.aborted || thrown instanceof Failure) throw thrown;
    const message = output.without(toFailure(thrown).message);
    const told = message.includes(target.name) ? message : `${shown}: ${message}`;
    throw unreachable(told + loginHint(thrown, target), thrown);
  } finally {
    clearTimeout(patience);
  }
}

/** What helps where a server wants to know who asks, or wants them to be allowed more. */
function loginHint(thrown: unknown, target: Target): string {
  const { name, to } = target;
  const { name: kind, status, scope } = thrown as { name?: string; status?: number; scope?: string };
  if (!("url" in to) || (kind !== "AuthorizationError" && status !== 401)) return "";
  if (!takesLogin(target)) return ". The Authorization header of its entry was not taken";
  const scopes = status === 403 && scope !== undefined ? ` --scope "${visibleLine(scope)}"` : "";
  return `. Log in with: patchbay login ${visibleName(name)}${scopes}`;
}
