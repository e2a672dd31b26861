/** tmcp over stdio; both eras. */

import { StdioTransport } from "@tmcp/transport-stdio";
import { server } from "./tmcp.mjs";

new StdioTransport(server).listen();
process.stdin.on("end", () => process.exit(0));
