/** Three real instances behind the real nginx and the real HAProxy, for each kind of sessions. */

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe } from "vitest";
import { needs } from "../../scripts/test/needs.ts";
import { type Balancer, startBalancer } from "../processes/balancers.mjs";
import { type Instance, startInstances } from "../processes/instances.mjs";
import { type Redis, startRedis } from "../processes/redis.mjs";
import type { Sessions } from "./body.ts";

const SERVER = fileURLToPath(new URL("./server.mjs", import.meta.url));
const SECRET = "a-secret-of-these-tests-of-more-than-32-characters";
const BALANCERS = ["nginx", "haproxy"] as const;

export interface Behind {
  readonly kind: (typeof BALANCERS)[number];
  readonly origin: string;
  readonly instances: readonly Instance[];
  readonly balancer: Balancer;
}

/** Runs the tests behind each balancer, before instances that keep sessions so. */
export function behind(sessions: Sessions, tests: (balanced: () => Behind) => void): void {
  needs(
    "nginx",
    "haproxy",
    "redis-server",
  )(`with ${sessions} sessions`, () => {
    const way = sessions === "memory" ? "sticky" : "round-robin";
    let redis: Redis | undefined;
    let instances: Instance[] = [];

    beforeAll(async () => {
      if (sessions === "redis") redis = await startRedis();
      instances = await startInstances([SERVER, ...optionsOf(sessions, redis)], {
        PATCHBAY_SECRETS: SECRET,
      });
    });
    afterAll(async () => {
      await Promise.all(instances.map((instance) => instance.end()));
      await redis?.stop();
    });

    describe.each(BALANCERS)(`${way} behind %s`, (kind) => {
      let balancer: Balancer;
      beforeAll(async () => {
        balancer = await startBalancer(kind, way, instances);
      });
      afterAll(() => balancer?.stop());
      tests(() => ({ kind, origin: balancer.origin, instances, balancer }));
    });
  });
}

function optionsOf(sessions: Sessions, redis: Redis | undefined): string[] {
  return ["--sessions", redis?.url ?? sessions];
}
