/** Instances of one server that share a Redis, all in this process, and a client that goes to each in turn. */

import type { EndpointOptions } from "@patchbay/server/http";
import {
  type Mounted,
  mount,
  type SessionClient,
  scripted,
  sessionAt,
  until,
} from "../../server/test/streamable.ts";
import { type RedisSessions, type RedisSessionsOptions, redisSessions } from "../src/index.ts";

export interface Instance extends ReturnType<typeof scripted> {
  url: string;
  sessions: RedisSessions;
  mounted: Mounted;
  close(): Promise<void>;
}

/** What a test opened, the last first; closed after it. */
const open: (() => Promise<void>)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

/** Starts an instance, and waits until its sessions can be reached, if it is to. */
export async function startInstance(
  redis: RedisSessionsOptions,
  options: EndpointOptions = {},
  waits = true,
): Promise<Instance> {
  const sessions = redisSessions({ onNotice: () => {}, ...redis });
  const { server, script } = scripted();
  const mounted = await mount(server, { ...options, sessions });
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= mounted.close().then(() => sessions.close());
    return closed;
  };
  open.push(close);
  if (waits) await until(() => sessions.ready());
  return { server, script, url: mounted.url, sessions, mounted, close };
}

/** The same session, by way of another instance. */
export function at(instance: { url: string }, { id }: SessionClient, revision?: string): SessionClient {
  return sessionAt(instance.url, id, revision);
}
