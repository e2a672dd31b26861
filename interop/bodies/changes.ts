/** The client hears of changes: by `subscriptions/listen`, or as a legacy server tells of them. */

import { expect, test } from "vitest";
import type { Circumstances, Connected } from "./body.ts";

export function changes(
  { server, client: name, transport, modern }: Circumstances,
  connected: () => Connected,
): void {
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };

  test("hears of what it listens to, until it is closed", async () => {
    const { client } = connected();
    const heard: string[] = [];
    const all = waitFor(heard, ["note:///1", "note:///2", "prompts", "resources", "tools"]);
    const filter = { ...lists, resourceSubscriptions: ["note:///1", "note:///2"] };
    const first = await client.listen(filter, all.hear);
    if (first.honored !== undefined) expect(first.honored).toEqual(filter);
    await client.callTool("change");
    await all.there;
    await first.close();
    if (first.ended !== undefined) expect(await first.ended).toBe("local");

    heard.length = 0;
    const last = waitFor(heard, ["note:///5"]);
    const second = await client.listen({ resourceSubscriptions: ["note:///5"] }, last.hear);
    await client.callTool("change");
    await last.there;
    // An SDK hears of all lists in the legacy era.
    expect(heard.filter((what) => what.includes(":"))).toEqual(["note:///5"]);
    if (modern || name.startsWith("Patchbay")) expect(heard).toEqual(["note:///5"]);
    await second.close();
  });

  if (modern && server === "patchbay" && transport === "http" && name.startsWith("SDK"))
    test("is told when the server ends", async () => {
      const { client, stopServer } = connected();
      const { ended } = await client.listen(lists, () => {});
      await stopServer();
      expect(await ended).toBe("graceful");
    });
}

/** Collects what is heard, until all of this has been. */
function waitFor(
  heard: string[],
  expected: string[],
): { hear: (what: string) => void; there: Promise<void> } {
  let resolve = () => {};
  const there = new Promise<void>((done) => {
    resolve = done;
  });
  const hear = (what: string) => {
    heard.push(what);
    if (expected.every((each) => heard.includes(each))) resolve();
  };
  return { hear, there };
}
