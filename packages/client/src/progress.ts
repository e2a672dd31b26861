/** What a server reports of its progress, as it is told to the application: it only grows (basic/patterns/progress). */

import type { JsonObject, Progress } from "@patchbay/core";
import { tell } from "./tell.ts";

/** Tells of progress where there is more than before. The one it makes says whether there was. */
export function progressTeller(
  onProgress: ((progress: Progress) => void) | undefined,
): (told: JsonObject) => boolean {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    if (onProgress === undefined || typeof progress !== "number" || !(progress > last)) return false;
    last = progress;
    tell(onProgress, {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    });
    return true;
  };
}
