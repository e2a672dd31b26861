/** From spawning a server to its first answer on stdio. */

import { start } from "../measures/start.mjs";
import { LEGACY, MODERN } from "../messages.mjs";
import { milliseconds } from "../report/cells.mjs";
import { atMost } from "../targets.mjs";

/** @type {import("../scenarios.mjs").Scenario} */
export const starts = {
  name: "start",
  title: "From spawn to the answer to the first request, stdio",
  measured: start,
  targets: [
    atMost(50, "patchbay-zod", "above", "above node -e 0", milliseconds),
    atMost(50, "patchbay-json-schema", "above", "above node -e 0, without Zod", milliseconds),
  ],
  contenders: [
    { name: "node", title: "node -e 0, from spawn to exit", eval: "0", bare: true, floor: true },
    {
      name: "bare",
      title: "bare readline loop",
      revision: MODERN,
      serve: ["servers/bare-start-stdio.mjs"],
      bare: true,
    },
    {
      name: "patchbay-zod",
      title: "Patchbay",
      revision: MODERN,
      serve: ["servers/patchbay-stdio.mjs"],
      ours: true,
    },
    {
      name: "patchbay-json-schema",
      title: "Patchbay, input as JSON Schema",
      revision: MODERN,
      serve: ["servers/patchbay-json-schema-stdio.mjs"],
      ours: true,
    },
    { name: "sdk-v1", title: "official SDK v1", revision: LEGACY, serve: ["servers/sdk-v1-stdio.mjs"] },
    { name: "sdk-v2", title: "official SDK v2", revision: MODERN, serve: ["servers/sdk-v2-stdio.mjs"] },
    { name: "tmcp", title: "tmcp", revision: MODERN, serve: ["servers/tmcp-stdio.mjs"] },
  ],
};
