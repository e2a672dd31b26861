/** What bounds the database server over PostgreSQL: rows, bytes here and on the wire, time, and a database that is silent. */

import { type Client, connect } from "@patchbay/client";
import { afterAll, beforeAll, expect, it } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { createDatabase, type DatabaseOptions } from "../src/database/index.ts";
import { answerOf, failureOf } from "./database-client.ts";
import { type Cluster, startCluster, startCounter } from "./postgres.ts";

needs("postgres")("what is bounded of a database of PostgreSQL's", () => {
  let cluster: Cluster;
  let client: Client;

  beforeAll(async () => {
    cluster = await startCluster();
    await cluster.run("CREATE ROLE reader LOGIN");
    client = await connectTo(cluster.url("reader"));
  }, 60_000);
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  function connectTo(database: string, options: DatabaseOptions = {}): Promise<Client> {
    return connect(createDatabase({ database, ...options }), {
      onElicit: () => ({ action: "accept", content: { run: true } }),
    });
  }

  const ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000000000)";
  const HUGE = "repeat('x', 40000000)";

  it("answers the first rows, and says that there are more", async () => {
    const sql = "SELECT n FROM generate_series(1, 2000) AS n";
    expect((await answerOf(client, "query", { sql, max_rows: 1000 })).rows).toHaveLength(1000);
    expect(await answerOf(client, "query", { sql, max_rows: 2 })).toMatchObject({
      rows: [[1], [2]],
      truncated: true,
    });
    const all = await answerOf(client, "query", { sql: `${sql} LIMIT 64`, max_rows: 64 });
    expect([all.rows.length, all.truncated]).toEqual([64, false]);
  });

  it("cuts an answer off at maxBytes, even if a row would fill memory", async () => {
    const sql = "SELECT repeat('x', n * n * 1000000) FROM generate_series(0, 9) AS n";
    expect(await answerOf(client, "query", { sql })).toMatchObject({ rows: [[""]], truncated: true });
    expect(await failureOf(client, "query", { sql: `SELECT ${HUGE}` })).toContain(
      "a row has more bytes than maxBytes allows (500,000)",
    );
  });

  it.each([
    ["query", `SELECT ${HUGE}`],
    ["query", `EXPLAIN VERBOSE SELECT ${HUGE}`],
    ["execute", `SELECT ${HUGE}`],
  ])("gives the connection up when too much comes over the wire: %s %s", async (tool, sql) => {
    const counter = await startCounter(cluster.url("reader"));
    const one = await connectTo(counter.url, { allowExecute: true, maxBytes: 1000, timeout: 60_000 });
    const failure = await failureOf(one, tool, { sql });
    expect(failure).toContain("more bytes than maxBytes allows (1,000)");
    if (tool === "execute") expect(failure).toContain("nothing was changed");
    expect(counter.bytes).toBeLessThan(25_000_000);
    await one.close();
    await counter.stop();
  });

  it("ends a statement, here and there, that takes too long", async () => {
    const hasty = await connectTo(cluster.url("reader"), { timeout: 1500, allowExecute: true });
    const failures = ["query", "execute"].map((tool) => failureOf(hasty, tool, { sql: ENDLESS }));
    for (const failure of failures) expect(await failure).toContain("than timeout allows (1,500 ms)");
    expect((await answerOf(hasty, "query", { sql: "SELECT 1" })).rows).toEqual([[1]]);
    await nobodyRuns();
    await hasty.close();
  });

  it("waits no longer for a database that is silent", async () => {
    const hasty = await connectTo(cluster.url("reader"), { timeout: 1500, maxConnections: 1 });
    const [row] = (await answerOf(hasty, "query", { sql: "SELECT pg_backend_pid()" })).rows;
    const [pid] = row as [number];
    process.kill(pid, "SIGSTOP");
    expect(await failureOf(hasty, "query", { sql: "SELECT 1" })).toContain("than timeout allows");
    process.kill(pid, "SIGCONT");
    await hasty.close();
  });

  it("ends the statement of a call that is cancelled, and lets the next one in", async () => {
    const one = await connectTo(cluster.url("reader"), { timeout: 600_000, maxConnections: 1 });
    const cancel = new AbortController();
    const running = one.callTool(
      "query",
      { sql: ENDLESS },
      { signal: cancel.signal, onProgress: () => cancel.abort() },
    );
    const waiting = one.callTool("query", { sql: "SELECT 1" });
    await expect(running).rejects.toThrow();
    expect((await waiting).structuredContent).toMatchObject({ rows: [[1]] });
    await nobodyRuns();
    await one.close();
  });

  /** Until no statement of the reader's runs. */
  async function nobodyRuns(): Promise<void> {
    const running = "SELECT FROM pg_stat_activity WHERE usename = 'reader' AND state = 'active'";
    while ((await cluster.run(running)).length > 0);
  }
});
