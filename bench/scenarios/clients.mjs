/** Calls by clients, against a server that costs less than any of them. */

import { httpClient, stdioClient } from "../drivers/client.mjs";
import { throughput } from "../measures/throughput.mjs";
import { LEGACY, MODERN } from "../messages.mjs";
import { timesAsFast } from "../targets.mjs";

const ours = { title: "Patchbay", serve: ["clients/patchbay.mjs"], ours: true };
const sdkV2 = { title: "official SDK v2", serve: ["clients/sdk-v2.mjs"] };

const libraries = [
  { ...ours, name: "patchbay-modern", revision: MODERN },
  { ...ours, name: "patchbay-legacy", revision: LEGACY },
  { name: "sdk-v1", title: "official SDK v1", revision: LEGACY, serve: ["clients/sdk-v1.mjs"] },
  { ...sdkV2, name: "sdk-v2-modern", revision: MODERN },
  { ...sdkV2, name: "sdk-v2-legacy", revision: LEGACY },
];

/** @type {import("../scenarios.mjs").Scenario[]} */
export const clients = [
  {
    name: "client-http",
    title: "A client's calls over Streamable HTTP, 64 at a time",
    measured: throughput(httpClient, { floor: "undici" }),
    targets: [
      timesAsFast(0.8, "patchbay-modern", "undici", "of undici posting the same bytes"),
      timesAsFast(0.8, "patchbay-legacy", "undici", "of undici, in a session"),
    ],
    contenders: [
      {
        name: "undici",
        title: "undici, Pool.request",
        revision: MODERN,
        serve: ["clients/undici.mjs", "request"],
        bare: true,
        floor: true,
      },
      {
        name: "undici-dispatch",
        title: "undici, Pool.dispatch",
        revision: MODERN,
        serve: ["clients/undici.mjs", "dispatch"],
        bare: true,
      },
      ...libraries,
    ],
  },
  {
    name: "client-stdio",
    title: "A client's calls over stdio, 64 at a time",
    measured: throughput(stdioClient),
    targets: [
      timesAsFast(0.8, "patchbay-modern", "bare", "of a bare driver"),
      timesAsFast(0.8, "patchbay-legacy", "bare", "of a bare driver, legacy"),
    ],
    contenders: [
      {
        name: "bare",
        title: "bare driver",
        revision: MODERN,
        serve: ["clients/bare-stdio.mjs"],
        bare: true,
        floor: true,
      },
      ...libraries,
    ],
  },
];
