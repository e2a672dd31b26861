/** Offers tools that need the sandbox where there is one; where there is none, says why. */

import { ErrorCode, McpServer, ProtocolError } from "@patchbay/server";
import type { SandboxOptions } from "./limits.ts";
import { openSandbox, type Sandbox } from "./open.ts";

type About = ConstructorParameters<typeof McpServer>[0];

/**
 * Makes a server whose tools run commands.
 *
 * @param tools what it says of them where they are not offered
 * @param offer gives it its tools, where there is a sandbox or the operator does without; `instructions` for models
 */
export async function offerSandboxed(
  about: About,
  tools: readonly string[],
  options: SandboxOptions,
  instructions: string,
  offer: (server: McpServer, sandbox: Sandbox) => void,
): Promise<McpServer> {
  // Stdout may be the protocol's.
  const { warn = (text) => console.error(`[${about.name}] ${text}`), unsafeNoSandbox = false } = options;
  const sandbox = await openSandbox(options);
  if (!("unavailable" in sandbox)) {
    if (unsafeNoSandbox) warn(UNSAFE);
    const server = new McpServer(about, { instructions: unsafeNoSandbox ? TO_MODELS : instructions });
    offer(server, sandbox);
    return server;
  }
  const why = sandbox.unavailable;
  warn(why);
  const server = new McpServer(about, { instructions: why, offers: ["tools"] });
  server.use(({ method, params }, next) => {
    if (method === "tools/call" && tools.includes(params.name as string))
      throw new ProtocolError(ErrorCode.InvalidParams, why);
    return next();
  });
  return server;
}

const TO_MODELS =
  "There is NO sandbox: what runs here may read, change and delete what the user of this server may, and reach the " +
  "network. The working folder is a new one for each call or session, and is gone after it.";
const UNSAFE =
  "--unsafe-no-sandbox: commands run WITHOUT a sandbox, and may do all that this server's user may do";
