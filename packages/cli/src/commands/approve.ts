/** `approve`: agree to what a folder's own `mcp.json` starts, once it is seen. */

import { approve, described, standingOf } from "../config/approval.ts";
import { readConfig } from "../config/config.ts";
import type { Context } from "../context.ts";
import { usage } from "../failure.ts";
import { visibleNames } from "../visible.ts";

/** @param names the servers; all of the folder's if there are none */
export async function approveServers(names: string[], { output }: Context): Promise<void> {
  const { servers } = await readConfig();
  const own = [...servers.values()].filter(({ ofFolder }) => ofFolder);
  const missing = names.filter((name) => !own.some((each) => each.name === name));
  if (missing.length > 0 || own.length === 0) {
    const which = missing.length > 0 ? `no server ${visibleNames(missing)}` : "no server";
    throw usage(`mcp.json of this folder has ${which}. What stands in your own needs no approval.`);
  }
  const chosen = own.filter(({ name }) => names.length === 0 || names.includes(name));
  const before = await Promise.all(chosen.map(async (each) => (await standingOf(each)).is));
  for (const each of chosen) await approve(each);
  if (output.json) {
    output.value({ servers: chosen.map(({ name }, index) => ({ name, was: before[index] })) });
    return;
  }
  for (const [index, each] of chosen.entries()) {
    output.text(`${before[index] === "approved" ? "was approved already" : "approved"}: ${described(each)}`);
  }
}
