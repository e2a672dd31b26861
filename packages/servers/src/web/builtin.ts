/** The web server as `serve` has it: its options and variables, and how it is loaded. */

import { type Builtin, Settings } from "../builtin.ts";
import { WEB_ENVIRONMENT, webOptions } from "./options.ts";

export const web: Builtin = {
  description: "Searches the web, and reads its pages as Markdown",
  options: [
    {
      flags: "--private-host <host>",
      description: "web_fetch may reach this host (or host:port) though it is not on the public web",
      many: true,
    },
    { flags: "--ignore-robots", description: "fetch what a site's robots.txt asks programs to leave alone" },
  ],
  environment: WEB_ENVIRONMENT,
  async load(given) {
    const settings = new Settings(given);
    const options = webOptions(settings.environment);
    const { createWeb } = await import("./index.ts");
    return createWeb({
      ...options,
      privateHosts: [...(options.privateHosts ?? []), ...settings.texts("private-host")],
      ignoreRobots: options.ignoreRobots === true || settings.has("ignore-robots"),
    });
  },
};
