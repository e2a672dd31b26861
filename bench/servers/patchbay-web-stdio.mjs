/** Patchbay's web server over stdio, which may fetch from the site that its argument names. */

import { serveStdio } from "@patchbay/server/stdio";
import { createWeb } from "@patchbay/servers/web";

await serveStdio(createWeb({ privateHosts: [process.argv[2]], ignoreRobots: true }));
