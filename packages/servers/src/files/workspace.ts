/** What the tools share: the folders that may be used, what is allowed in them, and the limits. */

import type { Context, Enabled } from "@patchbay/server";
import { z } from "zod";
import type { Readers } from "../web/reading/readers.ts";
import { inWords } from "./failures.ts";
import type { FilesLimits } from "./limits.ts";
import { type Allowed, type Pin, withPin } from "./pin.ts";
import type { Roots } from "./roots.ts";
import type { Turns } from "./turns.ts";

export interface Workspace {
  readonly limits: FilesLimits;
  readonly allowed: Allowed;
  /** Read PDFs, in threads of their own. */
  readonly readers: Readers;
  /** Who changes a file waits for who changed it before. */
  readonly turns: Turns;
  /** Who it is offered to; everybody, where the operator named the folders. */
  readonly enabled: Enabled | undefined;
  /** The folders that who asks may use. */
  rootsFor(context: Context): Roots | Promise<Roots>;
}

/** How every tool takes a path. */
export const Path = z
  .string()
  .min(1)
  .max(4096)
  .describe("Absolute, or relative to the first folder that may be used");

/** Works on what a client named, with what the system refuses in words. */
export async function withNamed<T>(
  named: string,
  context: Context,
  workspace: Workspace,
  work: (pin: Pin, roots: Roots) => Promise<T>,
): Promise<T> {
  const roots = await workspace.rootsFor(context);
  return inWords(named, roots, () => withPin(roots.locate(named), roots, (pin) => work(pin, roots)));
}
