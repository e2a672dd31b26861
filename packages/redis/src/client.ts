/** The clients of node-redis that a connection stands on: of one server or of a Cluster, behind one face. */

import {
  createClient,
  createCluster,
  type RedisClientOptions,
  type RedisClusterOptions,
} from "@redis/client";

export interface RedisOptions {
  /**
   * `redis://user:password@host:port/database`, or `rediss://` over TLS; a list names nodes of a Cluster.
   * Default `redis://127.0.0.1:6379`.
   */
  url?: string | readonly string[];
  /** Begins every key and channel: servers that share a Redis have different ones. Default `patchbay:`. */
  prefix?: string;
  /** Milliseconds that a command may take before what needs it is refused. Default 1000. */
  commandTimeout?: number;
  /** Milliseconds without a sign of life after which an instance is taken for dead. Default 2500. */
  deadAfter?: number;
  /** Milliseconds for which a stream is kept when its instance is gone, for a client that comes back. Default 10 minutes. */
  eventsKeptMs?: number;
  /** What else node-redis is to know, such as TLS or credentials. */
  client?: Pick<RedisClientOptions, "username" | "password" | "socket" | "database">;
  /** Takes what the operator should know: that Redis is away, or back. Default: a line on stderr. */
  onNotice?: (notice: string) => void;
}

const DEFAULT_URL = "redis://127.0.0.1:6379";

/** One server, or a Cluster. */
export interface Client {
  run(key: string, args: string[]): Promise<unknown>;
  subscribe(channel: string, listener: (text: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  destroy(): void;
}

const PUBLISH = "return redis.call('PUBLISH', KEYS[1], ARGV[1])";

/** Is told what becomes of a connection. */
interface Watcher {
  ready(client: Client): void;
  lost(cause: string): void;
  /** A node of a Cluster is away: what was said by way of it may have been missed. */
  nodeLost(node: string): void;
  nodeBack(node: string): void;
}

/**
 * Connects, now and whenever the connection is lost.
 *
 * @throws TypeError when a URL is none of a Redis; it is not shown, as it may hold a password
 */
export function createRedis(
  { url = DEFAULT_URL, client: more, commandTimeout = 1000 }: RedisOptions,
  watcher: Watcher,
): Client {
  checkUrls(url);
  const socket = {
    ...more?.socket,
    // All instances lose a Redis at once: they do not all come back at once.
    reconnectStrategy: (retries: number) =>
      Math.min(1000, 50 * 2 ** Math.min(retries, 5)) * (0.5 + Math.random() / 2),
  } as RedisClientOptions["socket"];
  const shared = {
    ...more,
    socket,
    disableOfflineQueue: true,
    commandOptions: { timeout: 0 },
  } as RedisClientOptions;
  return typeof url === "object"
    ? clusterOf(url, shared, commandTimeout, watcher)
    : single(url, shared, watcher);
}

function checkUrls(url: string | readonly string[]): void {
  const urls: unknown[] = [url].flat();
  const isOfRedis = (each: unknown) =>
    typeof each === "string" && /^rediss?:\/\//.test(each) && URL.canParse(each);
  if (urls.length > 0 && urls.every(isOfRedis)) return;
  throw new TypeError(`The URL of a Redis begins with redis:// or rediss://, such as ${DEFAULT_URL}`);
}

function single(url: string, options: RedisClientOptions, watcher: Watcher): Client {
  const redis = createClient({ ...options, url });
  const client: Client = {
    run: (_key, args) => redis.sendCommand(args),
    subscribe: (channel, listener) => redis.subscribe(channel, listener),
    unsubscribe: (channel) => redis.unsubscribe(channel),
    destroy: () => redis.destroy(),
  };
  redis.on("error", (cause: Error) => watcher.lost(reason(cause)));
  redis.on("ready", () => watcher.ready(client));
  redis.unref();
  redis.connect().catch(() => {});
  return client;
}

interface Node {
  host: string;
  port: number;
}

function clusterOf(
  urls: readonly string[],
  defaults: RedisClientOptions,
  commandTimeout: number,
  watcher: Watcher,
): Client {
  const { username, password } = new URL(urls[0] as string);
  const silence = commandTimeout * 2;
  const cluster = createCluster({
    rootNodes: urls.map((url) => ({ url })),
    topologyRefreshOnReconnectionAttemptStrategy: commandTimeout,
    defaults: {
      ...(username !== "" && { username: decodeURIComponent(username) }),
      ...(password !== "" && { password: decodeURIComponent(password) }),
      ...defaults,
      socket: { ...defaults.socket, socketTimeout: silence },
    } as RedisClusterOptions["defaults"],
  });
  const client: Client = {
    run: (key, args) =>
      // By itself PUBLISH goes to any node, and what is said on a channel would come out of order.
      args[0] === "PUBLISH"
        ? cluster.sendCommand(key, false, ["EVAL", PUBLISH, "1", ...args.slice(1)])
        : cluster.sendCommand(key, false, args),
    subscribe: async (channel, listener) => {
      await cluster.subscribe(channel, listener);
      unref();
    },
    unsubscribe: (channel) => cluster.unsubscribe(channel),
    destroy: () => cluster.destroy(),
  };
  // A node that fails is the Cluster's business: what needs it fails by itself, and the others go on.
  cluster.on("error", () => {});
  // Channels are listened to by way of one of them, and which one is not told.
  const away = new Set<string>();
  cluster.on("node-reconnecting", ({ host, port }: Node) => {
    const node = `${host}:${port}`;
    if (away.has(node)) return;
    away.add(node);
    watcher.nodeLost(node);
  });
  cluster.on("node-ready", ({ host, port }: Node) => {
    const node = `${host}:${port}`;
    away.delete(node);
    unref();
    watcher.nodeBack(node);
  });
  const clients = () =>
    [...cluster.nodeByAddress.values(), cluster.pubSubNode].flatMap((node) => node?.client ?? []);
  const unref = (): void => {
    for (const each of clients()) each.unref();
  };
  // A node that hangs is noticed even by who only listens. The pings of node-redis would keep the process alive.
  const pinging = setInterval(() => {
    for (const each of clients()) each.sendCommand(["PING"]).catch(() => {});
  }, commandTimeout).unref();
  let ended = false;
  const connect = (): void => {
    cluster.connect().then(
      () => ended || watcher.ready(client),
      (cause: Error) => {
        if (ended) return;
        watcher.lost(reason(cause));
        setTimeout(connect, 500).unref();
      },
    );
  };
  connect();
  return {
    ...client,
    destroy: () => {
      ended = true;
      clearInterval(pinging);
      cluster.destroy();
    },
  };
}

function reason(cause: Error): string {
  const inner = cause instanceof AggregateError ? (cause.errors[0] as Error) : cause;
  return inner.message || inner.name;
}
