/** Patchbay over stdio. */

import { serveStdio } from "@patchbay/server/stdio";
import { server } from "./patchbay.mjs";

await serveStdio(server);
