/** A real authorization server (`oidc-provider`), and a browser that fills in its forms. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import Provider, { type Configuration } from "oidc-provider";

export interface RealProvider {
  issuer: string;
  provider: Provider;
  /** The scopes of an access token that it gave for this resource; nothing where it did not, or the token is over. */
  verify(token: string, resource: string): Promise<string[] | undefined>;
  /** The paths that were asked for, queries left out. */
  paths: string[];
  close(): Promise<void>;
}

/** Seconds that an access token counts. */
const ACCESS_TOKEN_SECONDS = 600;

/** Starts a provider that gives JWTs for the resources of this machine. */
export async function realProvider(configuration: Configuration = {}): Promise<RealProvider> {
  const paths: string[] = [];
  let handle: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => {
    paths.push(new URL(request.url ?? "", "http://provider").pathname);
    void handle?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    scopes: ["openid", "offline_access", "read", "write"],
    rotateRefreshToken: true,
    pkce: { required: () => true },
    cookies: { keys: ["a key of this test"] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    ...configuration,
    features: {
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: "read write",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: ACCESS_TOKEN_SECONDS,
        }),
      },
      ...configuration.features,
    },
  });
  handle = provider.callback();
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  return {
    issuer,
    provider,
    paths,
    async verify(token, resource) {
      try {
        const { payload } = await jwtVerify(token, keys, { issuer, audience: resource, typ: "at+jwt" });
        return typeof payload.scope === "string" ? payload.scope.split(" ") : [];
      } catch {
        return undefined;
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Visits until the browser is sent back: logs in as this user where it is asked to, and agrees to what it is shown. */
export function browserOf(user: string): (url: string) => Promise<string> {
  const cookies = new Map<string, string>();
  return async (start) => {
    const { searchParams } = new URL(start);
    const home = searchParams.get("redirect_uri") ?? "";
    let url = start;
    let form: URLSearchParams | undefined;
    for (let pages = 0; pages < 20; pages++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, {
        redirect: "manual",
        headers: { cookie },
        ...(form && { method: "POST", body: form }),
      });
      for (const set of response.headers.getSetCookie()) {
        const [name = "", value = ""] = set.split(";", 1)[0]?.split(/=(.*)/) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      const location = response.headers.get("location");
      if (location !== null) {
        url = new URL(location, url).href;
        form = undefined;
        if (url.startsWith(home)) return url;
        continue;
      }
      const page = await response.text();
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (action === undefined || prompt === undefined)
        throw new Error(`No form is at ${url}: ${page.slice(0, 500)}`);
      url = new URL(action, url).href;
      form = new URLSearchParams({ prompt, ...(prompt === "login" && { login: user, password: "any" }) });
    }
    throw new Error("The provider asks without end");
  };
}
