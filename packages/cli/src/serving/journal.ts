/** What an operator is told on stderr while a server is served: a few lines, or a log of all that goes on. */

import type { Observer } from "@patchbay/server";
import type { Output } from "../output.ts";
import type { LogPlan } from "./plan.ts";

/** What an entry says beside its text. No session's id, and nothing that a client keeps secret. */
export type Fields = Record<string, string | number | undefined>;

export interface Journal {
  info(text: string, fields?: Fields): void;
  warn(text: string, fields?: Fields): void;
  /** Writes down what a server does; nothing where that is not wanted. */
  readonly observer: Observer | undefined;
  /** Resolves when all is written. */
  close(): Promise<void>;
}

/** @param who names the process in each entry, such as its worker's number */
export async function openJournal(plan: LogPlan, output: Output, who: Fields = {}): Promise<Journal> {
  if (plan.format === "off") return lines(output);
  const { openLog } = await import("./log.ts");
  return openLog(plan, output, who);
}

function lines(output: Output): Journal {
  return {
    info: (text) => void process.stderr.write(`${text}\n`),
    warn: (text) => output.warn(text),
    observer: undefined,
    close: async () => {},
  };
}
