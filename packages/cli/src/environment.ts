/** `.env` in the working directory: read if it is there, never written, and never over what is already set. */

import { loadEnvFile } from "node:process";

/** Gives a warning when the file is there and cannot be read. */
export function readDotEnv(): string | undefined {
  try {
    loadEnvFile(".env");
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code !== "ENOENT") return `.env could not be read (${code ?? message}); it is ignored.`;
  }
  return undefined;
}
