/** The log of `serve --log`: entries by pino, with no session's id and no secret in them. */

import { createHash } from "node:crypto";
import type { Observer } from "@patchbay/server";
import { type DestinationStream, destination, pino } from "pino";
import type { Output } from "../output.ts";
import { visibleName } from "../visible.ts";
import type { Fields, Journal } from "./journal.ts";
import type { LogPlan } from "./plan.ts";

/** Characters that may wait for a stderr that nobody reads; beyond, entries are dropped. */
const MAX_WAITING = 4 * 1024 * 1024;
const MAX_STACK = 4000;
/** Milliseconds for what waits to be written in the end. */
const CLOSING_MS = 1000;
/** None is ever given to the log; should that change, it is hidden. */
const HIDDEN = ["authorization", "cookie", "mcp-session-id", "sessionId", "requestState", "token", "secret"];

export async function openLog({ format, level }: LogPlan, output: Output, who: Fields): Promise<Journal> {
  const stream = format === "pretty" ? await pretty(output) : toStderr();
  const log = pino(
    {
      level,
      base: { pid: process.pid, ...who },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: HIDDEN.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: "[hidden]" },
      serializers: { err: described },
      hooks: { streamWrite: (entry) => output.without(entry) },
    },
    stream,
  );
  const observer: Observer = {
    request(method, revision) {
      const began = performance.now();
      return (outcome) => {
        const fields = {
          method: visibleName(method),
          revision,
          outcome,
          ms: Math.round((performance.now() - began) * 10) / 10,
        };
        if (outcome === "error" || outcome === "tool_error") log.warn(fields, "request");
        else log.info(fields, "request");
      };
    },
    session: (event, id) => log.info({ session: hashed(id) }, `session ${event}`),
    error: (error, where) => log.error({ where: visibleName(where), err: error }, "a handler failed"),
  };
  return {
    info: (text, fields = {}) => log.info(fields, text),
    warn: (text, fields = {}) => log.warn(fields, text),
    observer,
    close: () =>
      new Promise((resolve) => {
        // What cannot be written, or is read by nobody, is not waited for.
        const timer = setTimeout(resolve, CLOSING_MS);
        log.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

/** The same session has the same name in each entry, and nobody gets its id from it. */
function hashed(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, 12);
}

/** Of an error what says what happened; what else a library hung on it may be anything. */
function described(error: unknown): Record<string, string> {
  if (!(error instanceof Error)) return { message: String(error).slice(0, MAX_STACK) };
  const { name, message, stack, cause } = error;
  return {
    type: name,
    message,
    stack: (stack ?? "").slice(0, MAX_STACK),
    ...(cause instanceof Error && { cause: cause.message }),
  };
}

/** Entries of one turn leave in one write, and a reader that is slow does not stop the server. */
function toStderr(): DestinationStream {
  let ending = false;
  const stream = destination({
    dest: 2,
    sync: false,
    // With none a flush does not wait for what is being written.
    minLength: 1,
    maxLength: MAX_WAITING,
    retryEAGAIN: () => !ending,
  });
  const flushSync = stream.flushSync.bind(stream);
  // By itself it tries for ever as the process ends, which then never does.
  stream.flushSync = () => {
    ending = true;
    try {
      flushSync();
    } catch {
      // Nobody reads.
    }
  };
  // A full disk, or a reader that is gone, is no reason to end: entries are lost.
  stream.on("error", () => {
    stream.flushSync = () => {};
  });
  return stream;
}

async function pretty(output: Output): Promise<DestinationStream> {
  const { PinoPretty } = await import("pino-pretty");
  return PinoPretty({
    destination: 2,
    sync: true,
    colorize: output.errorColors.isColorSupported,
    translateTime: "SYS:HH:MM:ss.l",
    ignore: "pid",
    singleLine: true,
  });
}
