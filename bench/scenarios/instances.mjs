/** Sessions that several instances can serve, and several processes on one port. */

import { http } from "../drivers/http.mjs";
import { lacksRedis, startRedis } from "../drivers/redis.mjs";
import { throughput } from "../measures/throughput.mjs";
import { workers } from "../measures/workers.mjs";
import { echo, LEGACY } from "../messages.mjs";
import { atLeast, timesAsFast } from "../targets.mjs";

const ours = { revision: LEGACY, ours: true };
const times = (value) => `${value.toFixed(2)}×`;

const served = (count) => ({
  ...ours,
  name: `patchbay-${count}`,
  title: count === 1 ? "Patchbay, 1 worker on 1 core" : `Patchbay, ${count} workers on ${count} cores`,
  serve: [
    "../packages/cli/bin/patchbay.js",
    ...["serve", "./servers/patchbay.mjs", "--json", "--http", "0", "--sessions", "sealed"],
    ...["--workers", String(count)],
  ],
  core: count === 1 ? "server" : "both",
  workers: count,
});

/** @type {import("../scenarios.mjs").Scenario[]} */
export const instances = [
  {
    name: "sessions",
    title: "tools/call echo in a legacy session, by where it lives, Streamable HTTP, 64 connections",
    measured: throughput(http(echo), { floor: "memory" }),
    targets: [timesAsFast(0.6, "patchbay-redis", "patchbay-memory", "redis, of memory", { waits: true })],
    contenders: [
      {
        ...ours,
        name: "patchbay-memory",
        title: "Patchbay, memory",
        serve: ["servers/patchbay-http.mjs", "memory"],
        floor: true,
      },
      {
        ...ours,
        name: "patchbay-sealed",
        title: "Patchbay, sealed",
        serve: ["servers/patchbay-http.mjs", "sealed"],
      },
      {
        ...ours,
        name: "patchbay-redis",
        title: "Patchbay, redis",
        serve: ["servers/patchbay-http.mjs", "redis"],
        store: startRedis,
        lacks: lacksRedis,
      },
    ],
  },
  {
    name: "workers",
    title: "`patchbay serve --workers`, sealed sessions, tools/call echo, 64 connections",
    measured: workers(http(echo)),
    targets: [
      atLeast(1.6, "patchbay-2", "deducted", "2 workers on 2 cores against 1 on 1, load deducted", times),
    ],
    contenders: [served(1), served(2)],
  },
];
