/** Recordings in a folder that only its user may read: a file for each turn. */

import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { HostError } from "../errors.ts";
import { parseRecording, type Recording } from "./format.ts";
import type { RecordingSink } from "./recorder.ts";

const MAX_BYTES = 256 * 1024 * 1024;

export interface RecordingFile extends RecordingSink {
  readonly path: string;
  close(): void;
}

/**
 * Makes a new file, named by the time. Each line is in it when it has happened: a crash loses none.
 *
 * @throws the system's error where it cannot be made
 */
export function recordingFile(folder: string, now = new Date()): RecordingFile {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = now.toISOString().replace(/[:.]/g, "-");
  for (let number = 1; ; number++) {
    const path = join(folder, `${name}${number === 1 ? "" : `-${number}`}.jsonl`);
    try {
      const file = openSync(path, "wx", 0o600);
      return { path, write: (line) => void writeSync(file, line), close: () => closeSync(file) };
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
    }
  }
}

/**
 * Reads a recording from its file.
 *
 * @throws HostError `configuration` that says what is wrong with it
 */
export async function readRecording(path: string): Promise<Recording> {
  try {
    // Not to wait for the other end of a pipe.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new Error("it is no regular file");
      if (found.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
      return parseRecording(await file.readFile("utf8"));
    } finally {
      await file.close();
    }
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : (code ?? message);
    throw new HostError("configuration", `The recording ${path} cannot be read: ${why}.`);
  }
}
