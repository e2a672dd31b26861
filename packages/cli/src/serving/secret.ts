/** Secrets that seal, made where none are given. */

import { randomBytes } from "node:crypto";

export function newSecret(): string {
  return randomBytes(32).toString("hex");
}
