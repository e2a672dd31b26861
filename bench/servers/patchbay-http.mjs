/** Patchbay over Streamable HTTP; one server for both eras. */

import { serveHttp } from "@patchbay/server/http";
import { listening } from "./listening.mjs";
import { server } from "./patchbay.mjs";

const running = await serveHttp(server, { port: 0 });
listening(running.port);
