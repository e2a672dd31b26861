/** Transactions in PostgreSQL: that only read, on connections which are kept; that change, on one of their own. */

import type { Client, ClientConfig, Pool, QueryArrayResult, QueryResult } from "pg";
import { DatabaseError, type DatabaseLimits, limitExceeded } from "../limits.ts";
import { checkRole } from "./role.ts";
import { explained, timedOut, uncertain } from "./trouble.ts";

/** Milliseconds after which a connection that nobody uses is closed. */
const IDLE = 60_000;

/** Bytes that may come over the wire for one statement, besides what may be answered of them. */
const WIRE = 16_000_000;

/** Milliseconds that the database has to say itself that a commit took too long: then it is known not to be made. */
const COMMIT_GRACE = 5000;

/** How values are written, so that each is written whole. */
const SPELLING = `
  SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL bytea_output = 'hex';
  SET LOCAL extra_float_digits = 3; SET LOCAL standard_conforming_strings = on`;

/** A transaction that is open. */
export interface Session {
  /** Runs one statement: PostgreSQL refuses a text with more. Values are text, as PostgreSQL writes them. */
  run(sql: string, values?: readonly unknown[]): Promise<QueryArrayResult<(string | null)[]>>;
  /** Whether so much came over the wire that the connection was given up. */
  readonly flooded: boolean;
}

export class Connections {
  readonly #config: ClientConfig;
  readonly #limits: DatabaseLimits;
  readonly #allowSuperuser: boolean;
  readonly #checked = new WeakSet<object>();
  #pool: Pool | undefined;

  constructor(url: string, limits: DatabaseLimits, allowSuperuser: boolean) {
    this.#limits = limits;
    this.#allowSuperuser = allowSuperuser;
    this.#config = {
      connectionString: url,
      connectionTimeoutMillis: limits.timeout,
      application_name: "patchbay",
    };
  }

  /** Runs something in a transaction that cannot write, and is rolled back in the end. */
  async reading<T>(signal: AbortSignal, run: (session: Session) => Promise<T>): Promise<T> {
    const pool = await this.#openPool();
    const client = await pool.connect().catch(explained);
    let broken = true;
    try {
      const result = await this.#within(client as unknown as Client, "READ ONLY", signal, run);
      // What the statement set, too, is undone; and where the connection is gone, the server does it.
      broken = await bounded(
        client as unknown as Client,
        this.#limits.timeout,
        client.query("ROLLBACK"),
      ).then(
        () => false,
        () => true,
      );
      return result;
    } finally {
      // Whatever failed: a new connection costs little, and knows nothing of it.
      client.release(broken);
    }
  }

  /** Runs something in a transaction that is committed, unless it fails. */
  async changing<T>(signal: AbortSignal, run: (session: Session) => Promise<T>): Promise<T> {
    const { default: pg } = await import("pg");
    const client = new pg.Client(this.#config);
    client.on("error", () => {});
    try {
      await client.connect().catch(explained);
      const result = await this.#within(client, "READ WRITE", signal, run);
      // From here on there is no way back, and who cancels now is too late.
      await bounded(client, this.#limits.timeout + COMMIT_GRACE, client.query("COMMIT")).catch(uncertain);
      return result;
    } finally {
      // The server rolls back what is not committed.
      await bounded(client, this.#limits.timeout, client.end()).catch(() => {});
    }
  }

  async #openPool(): Promise<Pool> {
    const { default: pg } = await import("pg");
    if (this.#pool !== undefined) return this.#pool;
    const pool = new pg.Pool({
      ...this.#config,
      max: this.#limits.maxConnections,
      idleTimeoutMillis: IDLE,
      allowExitOnIdle: true,
    });
    // A connection that is lost: who uses it is told by their statement, and else nobody minds.
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    this.#pool = pool;
    return pool;
  }

  async #within<T>(
    client: Client,
    mode: "READ ONLY" | "READ WRITE",
    signal: AbortSignal,
    run: (session: Session) => Promise<T>,
  ): Promise<T> {
    const { timeout, maxBytes } = this.#limits;
    const deadline = AbortSignal.timeout(timeout);
    const stop = AbortSignal.any([signal, deadline]);
    let backend: number | undefined;
    const cancel = () => void this.#cancel(client, backend);
    stop.addEventListener("abort", cancel, { once: true });
    const wire = watchWire(client, WIRE + 4 * maxBytes);
    try {
      stop.throwIfAborted();
      backend = await begin(client, mode, timeout);
      if (!this.#allowSuperuser && !this.#checked.has(client)) {
        await checkRole(client);
        this.#checked.add(client);
      }
      return await run({
        run: (sql, values) => runOne(client, sql, values),
        get flooded() {
          return wire.flooded;
        },
      });
    } catch (error) {
      signal.throwIfAborted();
      if (deadline.aborted) throw timedOut(this.#limits);
      if (wire.flooded && !(error instanceof DatabaseError))
        throw limitExceeded("maxBytes", this.#limits, "the database answers with more bytes", "ask for less");
      throw explained(error, this.#limits);
    } finally {
      stop.removeEventListener("abort", cancel);
      wire.end();
    }
  }

  /** Ends a statement where it runs, and the connection here. */
  async #cancel(client: Client, backend: number | undefined): Promise<void> {
    streamOf(client).destroy();
    if (backend === undefined) return;
    const { default: pg } = await import("pg");
    const other = new pg.Client({ ...this.#config, query_timeout: this.#limits.timeout });
    other.on("error", () => {});
    try {
      await other.connect();
      await other.query("SELECT pg_cancel_backend($1)", [backend]);
    } catch {
      // Then statement_timeout ends it.
    } finally {
      await other.end().catch(() => {});
    }
  }
}

/** Begins, and gives the number of the server's process, by which it can be cancelled. */
async function begin(client: Client, mode: string, timeout: number): Promise<number> {
  const limits = [
    `SET LOCAL statement_timeout = ${timeout}`,
    `SET LOCAL lock_timeout = ${timeout}`,
    // In case that this program is lost in the middle.
    `SET LOCAL idle_in_transaction_session_timeout = ${timeout + 10_000}`,
  ];
  const results = (await client.query(
    `BEGIN TRANSACTION ${mode}; ${limits.join("; ")}; ${SPELLING}; SELECT pg_backend_pid() AS pid`,
  )) as unknown as QueryResult<{ pid: number }>[];
  return results.at(-1)?.rows[0]?.pid ?? 0;
}

const AS_TEXT = { getTypeParser: () => (text: string) => text };

/** By the extended protocol, in which a text is one statement. */
function runOne(
  client: Client,
  text: string,
  values: readonly unknown[] = [],
): Promise<QueryArrayResult<(string | null)[]>> {
  const config = { text, values: [...values], rowMode: "array", types: AS_TEXT, queryMode: "extended" };
  return client.query(config as unknown as { text: string; rowMode: "array" });
}

/** Gives the connection up when something takes longer: a server that is silent would be waited for in vain. */
function bounded<T>(client: Client, milliseconds: number, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => streamOf(client).destroy(), milliseconds);
  return work.finally(() => clearTimeout(timer));
}

/** Gives the connection up when more than `most` bytes come in. */
function watchWire(client: Client, most: number): { readonly flooded: boolean; end(): void } {
  const stream = streamOf(client);
  let bytes = 0;
  let flooded = false;
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes <= most || flooded) return;
    flooded = true;
    stream.destroy();
  };
  stream.on("data", count);
  return {
    get flooded() {
      return flooded;
    },
    end: () => void stream.off("data", count),
  };
}

/** The socket; the types of pg do not tell of it. */
function streamOf(client: Client): NodeJS.ReadableStream & { destroy(): void } {
  return (client as unknown as { connection: { stream: NodeJS.ReadableStream & { destroy(): void } } })
    .connection.stream;
}
