/** Opens a web page with the system's browser: no shell sees its URL. */

import { spawn } from "node:child_process";
import { isLoopback } from "./loopback.ts";

/**
 * @returns false where there is no browser to open it with
 * @throws TypeError when the URL is not https, nor http on this machine
 */
export function openUrl(url: string, platform = process.platform, env = process.env): Promise<boolean> {
  const { protocol, hostname, href } = new URL(url);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname)))
    throw new TypeError(`A browser is only sent to https, and to this machine, not to ${protocol}`);
  const opener = openerFor(platform, env);
  if (opener === undefined) return Promise.resolve(false);
  const [command, ...args] = opener;
  return new Promise((resolve) => {
    const child = spawn(command, [...args, href], { detached: true, shell: false, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
    child.unref();
  });
}

function openerFor(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): [string, ...string[]] | undefined {
  // `start` is part of a shell; this is what it calls.
  if (platform === "win32") return ["rundll32.exe", "url.dll,FileProtocolHandler"];
  if (platform === "darwin") return ["open"];
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME ? ["xdg-open"] : undefined;
}
