/** Uses a Cluster once, and then has nothing more to do. */

import { redisSessions } from "@patchbay/redis";

const sessions = redisSessions({ url: process.argv.slice(2), onNotice: () => {} });
// What is waited for keeps no process alive either.
const held = setInterval(() => {}, 1000);
if (await sessions.has("none")) process.exitCode = 1;
clearInterval(held);
process.disconnect?.();
