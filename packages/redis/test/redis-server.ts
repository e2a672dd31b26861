/** A real redis-server of a test's own: on a free port, in a folder of its own, ended with the test. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@redis/client";
import { programFile } from "../../../scripts/test/needs.ts";

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Sends it a command, over a connection of its own. */
  command(...args: string[]): Promise<unknown>;
  /** Lets time pass for all that it keeps, as if it was so much older. */
  pass(ms: number): Promise<void>;
  /** Sends it a signal; resolves at once. */
  signal(signal: NodeJS.Signals): void;
  /** Kills it, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with nothing kept. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export async function startRedis(...options: string[]): Promise<RedisServer> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "patchbay-redis-"));
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess;
  let control: ReturnType<typeof createClient> | undefined;

  async function start(): Promise<void> {
    const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", "", ...options];
    child = spawn(programFile("redis-server"), args, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.includes("Ready to accept connections")) resolve();
      });
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}: ${said}`)));
    });
  }

  async function kill(): Promise<void> {
    control?.destroy();
    control = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill("SIGKILL");
    await gone;
  }

  async function command(...args: string[]): Promise<unknown> {
    if (control === undefined) {
      control = createClient({ url });
      control.on("error", () => {});
      await control.connect();
    }
    return control.sendCommand(args);
  }

  async function pass(ms: number): Promise<void> {
    for (const key of (await command("KEYS", "*")) as string[]) {
      if ((await command("TYPE", key)) === "zset") await passIn(key, ms);
      const left = (await command("PTTL", key)) as number;
      if (left >= 0) await command("PEXPIRE", key, `${left - ms}`);
    }
  }

  /** A sorted set is one of times. */
  async function passIn(key: string, ms: number): Promise<void> {
    for (const member of (await command("ZRANGE", key, "0", "-1")) as string[]) {
      await command("ZINCRBY", key, `${-ms}`, member);
    }
  }

  await start();
  return {
    url,
    port,
    get pid() {
      return child.pid as number;
    },
    command,
    pass,
    signal: (signal) => void child.kill(signal),
    kill,
    restart: start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What tests need of a Redis, be it one server or a Cluster. */
export interface SomeRedis {
  readonly url: string | string[];
  /** Sends a command to each node; gives what all give together. */
  commandAll(...args: string[]): Promise<unknown[]>;
  stop(): Promise<void>;
}

export async function startSingle(): Promise<SomeRedis> {
  const { url, command, stop } = await startRedis();
  return { url, commandAll: async (...args) => [await command(...args)], stop };
}

export interface Cluster extends SomeRedis {
  readonly url: string[];
  /** The masters, then the replica of the first if there is one. */
  readonly nodes: readonly RedisServer[];
}

/** A Cluster of three nodes, each with a third of the slots, and perhaps one that takes over from the first. */
export async function startCluster(withReplica = false): Promise<Cluster> {
  const buses = [await freePort(), await freePort(), await freePort()];
  if (withReplica) buses.push(await freePort());
  const nodes = await Promise.all(
    buses.map((bus) =>
      startRedis("--cluster-enabled", "yes", "--cluster-port", `${bus}`, "--cluster-node-timeout", "1000"),
    ),
  );
  const [first] = nodes as [RedisServer, ...RedisServer[]];
  const slots = [0, 5461, 10923, 16384] as const;
  for (const [index, node] of nodes.entries()) {
    await node.command("CLUSTER", "SET-CONFIG-EPOCH", `${index + 1}`);
    if (index < 3)
      await node.command(
        "CLUSTER",
        "ADDSLOTSRANGE",
        `${slots[index]}`,
        `${(slots[index + 1] as number) - 1}`,
      );
    if (index > 0) await first.command("CLUSTER", "MEET", "127.0.0.1", `${node.port}`, `${buses[index]}`);
  }
  const said = async (node: RedisServer, what: string[], wanted: string) => {
    while (!String(await node.command(...what)).includes(wanted)) await new Promise(setImmediate);
  };
  for (const node of nodes) {
    await said(node, ["CLUSTER", "INFO"], "cluster_state:ok");
    await said(node, ["CLUSTER", "INFO"], `cluster_known_nodes:${nodes.length}`);
  }
  const replica = nodes[3];
  if (replica !== undefined) {
    await replica.command("CLUSTER", "REPLICATE", String(await first.command("CLUSTER", "MYID")));
    await said(replica, ["INFO", "replication"], "master_link_status:up");
    for (const node of nodes) await said(node, ["CLUSTER", "NODES"], "slave");
  }
  return {
    url: nodes.map(({ url }) => url),
    nodes,
    commandAll: (...args) => Promise.all(nodes.map((node) => node.command(...args))),
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}
