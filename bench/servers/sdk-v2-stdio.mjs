/** The official SDK v2 over stdio, by its `serveStdio`; both eras. */

import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { buildServer } from "./sdk-v2.mjs";

serveStdio(buildServer);
