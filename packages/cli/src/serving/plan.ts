/** What the options of `serve` and the environment ask for, checked. */

import { availableParallelism } from "node:os";
import { nearest } from "@patchbay/core";
import { usage } from "../failure.ts";
import { type AuthPlan, authPlanOf } from "./auth.ts";

/** As the command line gives them. */
export interface ServeOptions {
  stdio?: boolean;
  /** A port, or true for the default one. */
  http?: string | true;
  /** The same, for clients of HTTP+SSE. */
  sse?: string | true;
  host?: string;
  path?: string;
  allowHost?: string[];
  workers?: string;
  sessions?: string;
  instance?: string;
  maxRestarts?: string;
  drainTimeout?: number;
  drainDelay?: number;
  /** A port, or true for the default one. */
  metrics?: string | true;
  metricsHost?: string;
  log?: string;
  logLevel?: string;
  authIssuer?: string;
  authAudience?: string;
  authScopes?: string;
  authJwks?: string;
  authIntrospection?: string;
  authClientId?: string;
  authKeys?: string;
  authDpop?: boolean;
  authPublicUrl?: string;
}

/** What is written on stderr while it serves. */
export interface LogPlan {
  format: (typeof FORMATS)[number];
  level: (typeof LEVELS)[number];
}

/** Where legacy sessions live. */
export type SessionsPlan =
  | { kind: "memory" | "stateless" }
  /** The first secret seals. */
  | { kind: "sealed"; secrets: string[] }
  | { kind: "redis"; url: string };

export interface StdioPlan {
  kind: "stdio";
  log: LogPlan;
}

/** Where metrics are to be scraped. */
export interface MetricsPlace {
  port: number;
  host: string | undefined;
}

export interface HttpPlan {
  kind: "http";
  log: LogPlan;
  metrics: MetricsPlace | undefined;
  port: number;
  /** Whether the URL of HTTP+SSE is told, and not that of Streamable HTTP. Both are there. */
  sse: boolean;
  host: string | undefined;
  path: string | undefined;
  allowedHosts: string[] | undefined;
  workers: number;
  sessions: SessionsPlan;
  /** Whose tokens are asked for, if anybody's. */
  auth: AuthPlan | undefined;
  /** What seals `requestState`, where it is given; else each server's own. */
  secrets: string[];
  instance: string | undefined;
  /** Times in a row that a worker may die young. */
  maxRestarts: number;
  /** Milliseconds between being told to stop and taking no more. */
  drainDelay: number;
  /** Milliseconds after that, in which what is being answered may finish. */
  drainTimeout: number;
}

const DEFAULT_PORT = 3000;
const DEFAULT_SSE_PORT = 3001;
/** What exporters of metrics are used to. */
const DEFAULT_METRICS_PORT = 9464;
const MAX_WORKERS = 256;
const MIN_SECRET_LENGTH = 32;
const KINDS = ["memory", "sealed", "stateless", "redis"];
const FORMATS = ["off", "json", "pretty"] as const;
const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
/** What has no meaning on stdin and stdout. */
const OF_HTTP = {
  host: "--host",
  path: "--path",
  allowHost: "--allow-host",
  workers: "--workers",
  sessions: "--sessions",
  instance: "--instance",
  maxRestarts: "--max-restarts",
  drainTimeout: "--drain-timeout",
  drainDelay: "--drain-delay",
  metrics: "--metrics",
  metricsHost: "--metrics-host",
  authIssuer: "--auth-issuer",
  authAudience: "--auth-audience",
  authScopes: "--auth-scopes",
  authJwks: "--auth-jwks",
  authIntrospection: "--auth-introspection",
  authClientId: "--auth-client-id",
  authKeys: "--auth-keys",
  authDpop: "--auth-dpop",
  authPublicUrl: "--auth-public-url",
} as const;

/**
 * Reads `PATCHBAY_SECRETS`, `PATCHBAY_AUTH_CLIENT_SECRET`, `REDIS_URL` and where to listen too, and takes the first two out
 * of the environment: what a tool starts has no use for them.
 *
 * @throws Failure (usage) that names the option
 */
export function planOf(
  options: ServeOptions,
  environment: NodeJS.ProcessEnv = process.env,
): HttpPlan | StdioPlan {
  const { sse } = options;
  const http = options.http ?? sse;
  if (options.stdio === true && http !== undefined)
    throw usage(`Serve over --stdio or ${sse === undefined ? "--http" : "--sse"}, not both.`);
  if (options.http !== undefined && sse !== undefined)
    throw usage("Serve by --http or --sse, not both: the port of either takes both kinds of clients.");
  const secrets = takeSecrets(environment);
  const log = logOf(options);
  if (http === undefined) {
    for (const [name, option] of Object.entries(OF_HTTP)) {
      if (options[name as keyof typeof OF_HTTP] !== undefined)
        throw usage(
          `${option} is for HTTP: add --http, such as patchbay serve <name> --http 3000 ${option} …`,
        );
    }
    return { kind: "stdio", log };
  }
  const workers = workersOf(options.workers);
  const sessions = sessionsOf(options.sessions, workers, secrets, environment.REDIS_URL);
  return {
    kind: "http",
    log,
    metrics: metricsOf(options),
    port: httpPortOf(options, environment),
    sse: sse !== undefined,
    host: options.host ?? (environment.MCP_HTTP_HOST || undefined),
    path: options.path,
    allowedHosts: options.allowHost,
    workers,
    sessions,
    auth: authPlanOf(options, environment),
    secrets,
    instance: instanceOf(options.instance),
    maxRestarts: countOf("--max-restarts", options.maxRestarts, 10),
    drainDelay: options.drainDelay ?? 0,
    drainTimeout: options.drainTimeout ?? 10_000,
  };
}

function takeSecrets(environment: NodeJS.ProcessEnv): string[] {
  const secrets = (environment.PATCHBAY_SECRETS ?? "").split(/[\s,]+/).filter((secret) => secret !== "");
  delete environment.PATCHBAY_SECRETS;
  if (secrets.some((secret) => secret.length < MIN_SECRET_LENGTH)) {
    throw usage(
      `PATCHBAY_SECRETS: each secret has at least ${MIN_SECRET_LENGTH} characters, such as \`openssl rand -hex 32\` gives. ` +
        "Several are divided by commas: the first seals, all open.",
    );
  }
  return secrets;
}

/**
 * What an operator of several instances may have forgotten, if anything: what one sealed no other could open.
 */
export function warningOf({ secrets, sessions, workers, instance }: HttpPlan): string | undefined {
  const several =
    sessions.kind === "redis" || instance !== undefined || (sessions.kind === "sealed" && workers === 1);
  if (secrets.length > 0 || !several) return undefined;
  return (
    "PATCHBAY_SECRETS is not set: another instance cannot go on with what this one asked, and nobody after a restart. " +
    "Give all instances the same, such as `openssl rand -hex 32` makes."
  );
}

/** The port that is named, else the environment's for that kind of client, else the usual one. */
function httpPortOf({ http, sse }: ServeOptions, environment: NodeJS.ProcessEnv): number {
  const [option, given, variable, otherwise] =
    sse === undefined
      ? ["--http", http, "MCP_STREAMABLE_HTTP_PORT", DEFAULT_PORT]
      : ["--sse", sse, "MCP_SSE_PORT", DEFAULT_SSE_PORT];
  if (typeof given === "string") return portOf(option, given, otherwise);
  const set = environment[variable];
  if (set === undefined || set === "") return otherwise;
  if (/^\d+$/.test(set) && Number(set) <= 65_535) return Number(set);
  throw usage(`${variable} is a port from 0 to 65535, not "${set}".`);
}

function portOf(option: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  const port = Number(given);
  if (/^\d+$/.test(given) && port <= 65_535) return port;
  throw usage(
    `${option} takes a port from 0 to 65535, not "${given}". The server comes first: patchbay serve <name> ${option}.`,
  );
}

function workersOf(given: string | undefined): number {
  if (given === undefined) return 1;
  if (given === "auto") return availableParallelism();
  const workers = Number(given);
  if (/^\d+$/.test(given) && workers >= 1 && workers <= MAX_WORKERS) return workers;
  throw usage(
    `--workers takes a number from 1 to ${MAX_WORKERS}, or auto for one for each core, not "${given}".`,
  );
}

function countOf(option: string, given: string | undefined, otherwise: number): number {
  if (given === undefined) return otherwise;
  if (/^\d{1,6}$/.test(given)) return Number(given);
  throw usage(`${option} takes a whole number, not "${given}".`);
}

function sessionsOf(
  given: string | undefined,
  workers: number,
  secrets: string[],
  redisUrl: string | undefined,
): SessionsPlan {
  const kind = given ?? (workers > 1 ? "sealed" : "memory");
  if (isRedis(kind)) return { kind: "redis", url: checkRedis("--sessions", kind) };
  switch (kind) {
    case "memory":
      if (workers === 1) return { kind };
      throw usage(
        `--sessions memory keeps sessions in one process, and of ${workers} workers another may get the next request: ` +
          "take --sessions sealed or redis, or leave --workers out.",
      );
    case "stateless":
      return { kind };
    case "sealed":
      return { kind, secrets };
    case "redis":
      if (isRedis(redisUrl ?? "")) return { kind, url: checkRedis("REDIS_URL", redisUrl as string) };
      throw usage("--sessions redis needs REDIS_URL, such as redis://127.0.0.1:6379, in the environment.");
    default: {
      // Of a URL of another kind nothing is shown: it may hold a password.
      const given = kind.includes("://") ? "another URL" : `"${kind}"`;
      throw usage(`--sessions takes ${KINDS.join(", ")} or redis://…, not ${given}.`, nearest(kind, KINDS));
    }
  }
}

function isRedis(url: string): boolean {
  return /^rediss?:\/\//i.test(url);
}

/** The URL may hold a password: what is wrong with it is said without it. */
function checkRedis(where: string, url: string): string {
  try {
    const { username, password, pathname } = new URL(url);
    decodeURIComponent(username + password);
    if (/^(\/\d*)?$/.test(pathname)) return url;
  } catch {
    // Told below.
  }
  throw usage(
    `${where} is no URL of a Redis: it looks like redis://user:password@host:port/database, the database a number, ` +
      "and what is special in a password written as %40 and its like.",
  );
}

function metricsOf({ metrics, metricsHost: host }: ServeOptions): HttpPlan["metrics"] {
  if (metrics === undefined) {
    if (host !== undefined) throw usage("--metrics-host is for --metrics: add that.");
    return undefined;
  }
  return { port: portOf("--metrics", metrics === true ? undefined : metrics, DEFAULT_METRICS_PORT), host };
}

function logOf({ log = "off", logLevel = "info" }: ServeOptions): LogPlan {
  return { format: oneOf("--log", log, FORMATS), level: oneOf("--log-level", logLevel, LEVELS) };
}

function oneOf<Name extends string>(option: string, given: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  throw usage(`${option} takes ${names.join(", ")}, not "${given}".`, nearest(given, [...names]));
}

function instanceOf(given: string | undefined): string | undefined {
  if (given === undefined || /^[a-z0-9-]{1,63}$/.test(given)) return given;
  throw usage(`--instance takes 1 to 63 of a–z, 0–9 and "-", not "${given}".`);
}
