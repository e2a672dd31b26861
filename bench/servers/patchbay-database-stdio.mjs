/** Patchbay's database server over stdio, with the database that its argument names. */

import { serveStdio } from "@patchbay/server/stdio";
import { createDatabase } from "@patchbay/servers/database";

await serveStdio(createDatabase({ database: process.argv[2] }));
