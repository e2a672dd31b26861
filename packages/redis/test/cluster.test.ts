/** A Cluster of which a node is lost: nothing is missed without being made up for, and a replica takes over. */

import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { Events, gist, openSession, until } from "../../server/test/streamable.ts";
import { at, closeAll, startInstance } from "./instances.ts";
import { type Cluster, startCluster } from "./redis-server.ts";

needs("redis-server")("a Cluster", () => {
  let cluster: Cluster | undefined;

  afterEach(async () => {
    await closeAll();
    await cluster?.stop();
    cluster = undefined;
  });

  test("that lost the connection by which channels are heard has clients look again", async () => {
    cluster = await startCluster();
    const b = await startInstance({ url: cluster.url });
    const client = await openSession(b.url);
    const events = new Events(await client.get());
    await events.next();
    await cluster.commandAll("CLIENT", "KILL", "TYPE", "pubsub");
    const told = new Set<string>();
    while (told.size < 3) told.add(gist(await events.message()));
    expect([...told]).toContain("notifications/tools/list_changed");
    // And they hear each other still.
    const a = await startInstance({ url: cluster.url });
    const listener = new Events(await at(b, client).get());
    await listener.next();
    a.server.resourceUpdated("test://other");
    a.server.prompt("new", {}, () => "");
    let heard: string;
    do heard = gist(await listener.message());
    while (heard !== "notifications/prompts/list_changed");
  });

  test("of which a master dies is served by the replica that takes over", async () => {
    cluster = await startCluster(true);
    const a = await startInstance({ url: cluster.url });
    const b = await startInstance({ url: cluster.url });
    const clients = await Promise.all(Array.from({ length: 12 }, () => openSession(a.url)));
    const [master, , , replica] = cluster.nodes;
    await until(async () => (await master?.command("DBSIZE")) === (await replica?.command("DBSIZE")));
    await master?.kill();
    for (const client of clients) {
      await until(async () => {
        const answer = await at(b, client).call(1, "echo", { text: "hi" });
        expect([200, 503]).toContain(answer.status);
        return (await answer.text()).includes("hi");
      });
    }
    const listener = new Events(await at(a, clients[0] as (typeof clients)[0]).get());
    await listener.next();
    await until(async () => {
      b.server.tool("new", {}, () => "");
      b.server.removeTool("new");
      return true;
    });
    let heard: string;
    do heard = gist(await listener.message());
    while (heard !== "notifications/tools/list_changed");
  });

  test("keeps no process alive", async () => {
    cluster = await startCluster();
    const child = fork(fileURLToPath(new URL("idle.mjs", import.meta.url)), cluster.url, { execArgv: [] });
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
  });
});
