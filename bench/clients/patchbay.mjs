/** Our client, over HTTP or stdio. */

import { connect } from "@patchbay/client";
import { isModern } from "../messages.mjs";
import { calling, revision, target } from "./calling.mjs";

const client = await connect(target, { era: isModern(revision) ? "modern" : "legacy" });
calling((args) => client.callTool("echo", args));
