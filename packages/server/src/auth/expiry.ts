/** What stays open ends with the token that opened it: its client comes back with another. */

import { after } from "../timers.ts";
import type { Access } from "./access.ts";

/** A longer timer would go off at once. */
const LONGEST = 2 ** 31 - 1;

/** @returns calls it off */
export function atExpiry(access: Access | undefined, end: () => void): () => void {
  const expiresAt = access?.auth?.expiresAt;
  if (expiresAt === undefined) return () => {};
  return after(Math.min(Math.max(0, expiresAt - Date.now()), LONGEST), end);
}
