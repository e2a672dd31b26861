/** A login in the system's browser, which comes back to a port of this machine (RFC 8252 § 7.3). */

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openUrl } from "./open-url.ts";
import type { Browser, Visit } from "./options.ts";

export interface BrowserOptions {
  /** Is told where the user has to go: show it, for there may be no browser here. */
  onUrl?: (url: string) => void;
  /** Opens a URL. Default: the system's browser, where there is one. */
  open?: (url: string) => unknown;
  /** Asks the user for the URL that their browser ended at, should it run on another machine. */
  pasted?: (signal: AbortSignal) => Promise<string>;
  /** Where the browser is sent back to, for a client that is registered so. Default: any free port of 127.0.0.1. */
  redirectUri?: string;
}

const PATH = "/callback";
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  connection: "close",
};

/** Logs in with the system's browser: `connect(url, { auth: { browser: browser() } })`. */
export function browser(options: BrowserOptions = {}): Browser {
  return {
    async prepare(preferred) {
      const { redirectUri } = options;
      const server = createServer();
      if (redirectUri !== undefined) await listen(server, new URL(redirectUri));
      else await listenAnywhere(server, preferred);
      const { port } = server.address() as AddressInfo;
      return visit(server, redirectUri ?? `http://127.0.0.1:${port}${PATH}`, options);
    },
  };
}

function visit(
  server: Server,
  redirectUri: string,
  { open = openUrl, onUrl, pasted }: BrowserOptions,
): Visit {
  return {
    redirectUri,
    async go(url, signal) {
      const over = new AbortController();
      const ended = AbortSignal.any([signal, over.signal]);
      try {
        const back = cameBack(server, new URL(redirectUri), new URL(url).searchParams.get("state"), ended);
        // Who cannot be sent there does not come back.
        back.catch(() => {});
        onUrl?.(url);
        await open(url);
        return await (pasted === undefined ? back : Promise.race([back, pasted(ended)]));
      } finally {
        over.abort();
      }
    },
    async close() {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The URL that the browser comes back to. Any page can send it here: only who knows our `state` is heard. */
function cameBack(server: Server, expected: URL, state: string | null, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const url = URL.canParse(request.url ?? "", expected.href)
        ? new URL(request.url ?? "", expected.href)
        : undefined;
      const isOurs =
        request.method === "GET" &&
        request.headers.host === expected.host &&
        url?.origin === expected.origin &&
        url.pathname === expected.pathname;
      if (url === undefined || !isOurs) return answer(response, 404, "There is nothing here.");
      if (url.searchParams.get("state") !== state)
        return answer(response, 400, "This is not the login that was begun.");
      answer(response, 200, "You can close this window, and go back to where you came from.", () =>
        resolve(url.href),
      );
    });
  });
}

function answer(response: ServerResponse, status: number, text: string, onSent?: () => void): void {
  response.writeHead(status, HEADERS).end(`<!doctype html><title>Patchbay</title><p>${text}</p>\n`, onSent);
}

/** The port that the client is registered with, if it is free. */
async function listenAnywhere(server: Server, preferred: string | undefined): Promise<void> {
  const before = preferred !== undefined && URL.canParse(preferred) ? new URL(preferred) : undefined;
  const again = before?.hostname === "127.0.0.1" && before.port !== "" && before.pathname === PATH;
  if (before !== undefined && again) {
    try {
      return await listen(server, before);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    }
  }
  await listen(server, new URL("http://127.0.0.1:0"));
}

async function listen(server: Server, { hostname, port }: URL): Promise<void> {
  server.listen(Number(port), hostname.replace(/^\[|\]$/g, ""));
  await once(server, "listening");
}
