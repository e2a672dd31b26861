/** The everything server: each feature of the protocol, for tests, demonstrations and the conformance suite. */

import { McpServer, type McpServerOptions } from "@patchbay/server";
import { addConformance } from "./conformance.ts";
import { addShowcase } from "./showcase.ts";
import { addSkill, SKILLS_EXTENSION } from "./skills.ts";

/**
 * Makes the server.
 *
 * @param options as any server's; a page has 50 entries, so that the resources take three
 */
export function createEverything(options: McpServerOptions = {}): McpServer {
  const server = new McpServer(
    {
      name: "everything",
      version: "0.1.0",
      title: "Everything",
      description: "Each feature of the protocol, for tests and demonstrations",
    },
    {
      pageSize: 50,
      instructions:
        "Shows each feature of the protocol. Tools that begin with test_ are the conformance suite's.",
      extensions: SKILLS_EXTENSION,
      ...options,
    },
  );
  addConformance(server);
  addShowcase(server);
  addSkill(server);
  return server;
}
