/** A PostgreSQL of its own, on a socket in a temporary folder, for the tests of one file; and what counts its bytes. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import pg from "pg";
import { programFile } from "../../../scripts/test/needs.ts";

export interface Cluster {
  /** Where a role reaches it. */
  url(role: string): string;
  /** Runs SQL as the superuser `owner`. */
  run(sql: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root: this is Debian's "nobody". */
const NOBODY = 65_534;

export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-postgres-"));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const as = { cwd: folder, ...(isRoot && { uid: NOBODY, gid: NOBODY }) };
  const program = programFile("postgres");
  const data = join(folder, "data");
  const init = ["-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  execFileSync(join(dirname(program), "initdb"), init, { ...as, stdio: "ignore" });
  const settings = [
    "listen_addresses=",
    `unix_socket_directories=${folder}`,
    "fsync=off",
    "max_connections=30",
  ];
  const server = spawn(program, ["-D", data, ...settings.flatMap((each) => ["-c", each])], {
    ...as,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await listening(server);
  const url = (role: string) => `postgres://${role}@localhost/postgres?host=${encodeURIComponent(folder)}`;
  const owner = new pg.Client({ connectionString: url("owner") });
  await owner.connect();
  return {
    url,
    run: async (sql) => (await owner.query(sql)).rows,
    async stop() {
      await owner.end();
      const ended = once(server, "exit");
      // "Immediate": it waits for nobody.
      server.kill("SIGQUIT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Stands before a database, and counts the bytes that it answers. */
export interface Counter {
  url: string;
  readonly bytes: number;
  stop(): Promise<void>;
}

/** @param url as `Cluster.url` gives it */
export async function startCounter(url: string): Promise<Counter> {
  const SOCKET = ".s.PGSQL.5432";
  const folder = mkdtempSync(join(tmpdir(), "patchbay-counter-"));
  const database = join(new URL(url).searchParams.get("host") ?? "", SOCKET);
  let bytes = 0;
  const server = createServer((client) => {
    const upstream = createConnection(database);
    upstream.on("data", (chunk) => {
      bytes += chunk.length;
    });
    client.pipe(upstream).pipe(client);
    client.on("error", () => {}).on("close", () => upstream.destroy());
    upstream.on("error", () => {}).on("close", () => client.destroy());
  });
  await once(server.listen(join(folder, SOCKET)), "listening");
  const here = new URL(url);
  here.searchParams.set("host", folder);
  return {
    url: here.href,
    get bytes() {
      return bytes;
    },
    async stop() {
      const closed = once(server, "close");
      server.close();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listening(server: ChildProcess): Promise<void> {
  const lines = createInterface({ input: server.stderr as Readable });
  const heard: string[] = [];
  for await (const line of lines) {
    heard.push(line);
    if (line.includes("ready to accept connections")) {
      (server.stderr as Readable).resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start:\n${heard.join("\n")}`);
}
