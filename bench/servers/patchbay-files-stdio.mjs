/** Patchbay's files server over stdio, with the folders that its arguments name. */

import { serveStdio } from "@patchbay/server/stdio";
import { createFiles } from "@patchbay/servers/files";

await serveStdio(await createFiles({ folders: process.argv.slice(2) }));
