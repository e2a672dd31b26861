/** What every command is given. */

import type { Interrupts } from "./interrupts.ts";
import type { Output } from "./output.ts";

export interface Context {
  output: Output;
  /** Aborted by SIGINT, by SIGTERM, and when nobody reads stdout any more. */
  signal: AbortSignal;
  interrupts: Interrupts;
  /** The words after `--`: a server to start. */
  command: string[] | undefined;
  /** The variables of the environment that `.env` set. */
  fromFile: ReadonlySet<string>;
}

/** The longest that a timer can wait: nearly 25 days. */
export const MAX_MILLISECONDS = 2 ** 31 - 1;

/** The options that every command with a server takes. */
export interface ServerOptions {
  config?: string;
  /** Milliseconds to connect in, and for each request. */
  timeout?: number;
  /** Agree to what would be asked. */
  yes?: boolean;
}
