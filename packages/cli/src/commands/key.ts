/** `key`: makes a key for a server of yours. It is shown once; the file keeps its hash. */

import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { addEntry, type KeyEntry } from "../serving/keys.ts";
import { newSecret } from "../serving/secret.ts";
import { visibleName } from "../visible.ts";

export interface KeyOptions {
  scopes?: string;
  expires?: string;
}

export async function key(
  file: string,
  subject: string,
  { scopes = "", expires }: KeyOptions,
  { output, signal }: Context,
): Promise<void> {
  const until = expires === undefined ? undefined : new Date(expires);
  if (until !== undefined && !(until.getTime() > Date.now()))
    throw usage(
      `--expires takes a time to come, such as 2027-12-31 or 2027-12-31T12:00:00Z, not "${expires}".`,
    );
  const { hashKey } = await import("@patchbay/server/auth");
  const made = newSecret();
  const granted = scopes.split(/[\s,]+/).filter((scope) => scope !== "");
  const entry: KeyEntry = {
    hash: await hashKey(made),
    subject,
    ...(granted.length > 0 && { scopes: granted }),
    ...(until !== undefined && { expires: until.toISOString() }),
  };
  await addEntry(file, entry, signal);
  if (output.json) return output.value({ key: made, ...entry });
  output.text(made);
  output.note(`This is the key of ${visibleName(subject)}, and nobody shows it again; ${file} has its hash.`);
}
