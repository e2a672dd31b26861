/** Patchbay over Streamable HTTP; one server for both eras. Arguments: where legacy sessions live, and the URL of that. */

import { sealedSessions, serveHttp } from "@patchbay/server/http";
import { listening } from "./listening.mjs";
import { server } from "./patchbay.mjs";
import { limits } from "./workload.mjs";

const [kind = "memory", url] = process.argv.slice(2);
const STORES = {
  memory: () => ({}), // the default
  sealed: () => ({ sessions: sealedSessions({ secrets: ["a secret of the benchmark, and no secret"] }) }),
  async redis() {
    const { redisSessions } = await import("@patchbay/redis");
    return { sessions: redisSessions(url) };
  },
};

const running = await serveHttp(server, { port: 0, ...limits, ...(await STORES[kind]()) });
listening(running.port);
