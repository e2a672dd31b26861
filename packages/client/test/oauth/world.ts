/** A protected server and the authorization server that it names, over real HTTP; a test changes what they say. */

import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@patchbay/core";
import { afterEach } from "vitest";
import { type Client, type ConnectOptions, connect, type OAuthOptions } from "../../src/index.ts";

/** One request that came in. */
export interface Heard {
  verb: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingMessage["headers"];
  body: string;
  /** The body as a form, or as JSON. */
  form: URLSearchParams;
  json: JsonObject;
}

export interface Site {
  origin: string;
  heard: Heard[];
  close(): Promise<void>;
}

export type Answer = (response: ServerResponse) => void;

/** A site at a port of its own. */
export async function site(respond: (heard: Heard) => Answer | Promise<Answer>): Promise<Site> {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    request.setEncoding("utf8");
    for await (const piece of request) body += piece;
    const { pathname, searchParams } = new URL(request.url ?? "", "http://site");
    const isJson = request.headers["content-type"]?.startsWith("application/json") === true;
    const one: Heard = {
      verb: request.method ?? "",
      path: pathname,
      query: searchParams,
      headers: request.headers,
      body,
      form: new URLSearchParams(isJson ? "" : body),
      json: isJson && body !== "" ? JSON.parse(body) : {},
    };
    heard.push(one);
    (await respond(one))(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard, close };
}

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

export const nothing: Answer = (response) => response.writeHead(404).end();

export const redirect =
  (location: string, status = 302): Answer =>
  (response) =>
    response.writeHead(status, { location }).end();

/** What a site answers in its own way, by the path of the request; with nothing, it answers as ever. */
export type Quirks = Record<string, (heard: Heard) => Answer | undefined | Promise<Answer | undefined>>;

export interface AuthorizationSite extends Site {
  /** Tokens that count, and the scopes of each. */
  tokens: Map<string, string[]>;
  /** Refresh tokens that count, and the scope of each. */
  refreshTokens: Map<string, string>;
  /** The requests for tokens. */
  grants(): URLSearchParams[];
  /** The requests of browsers. */
  logins(): URLSearchParams[];
}

/** An authorization server that asks nobody; `quirks` answer in its place, `metadata` is added to its own. */
export async function authorizationSite(
  options: {
    metadata?: JsonObject | ((origin: string) => JsonObject);
    quirks?: Quirks;
    expiresIn?: number;
  } = {},
): Promise<AuthorizationSite> {
  const codes = new Map<string, URLSearchParams>();
  const tokens = new Map<string, string[]>();
  const refreshTokens = new Map<string, string>();
  const give = (scope: string): Answer => {
    const access = `access-${randomUUID()}`;
    const refresh = `refresh-${randomUUID()}`;
    tokens.set(access, scope.split(" "));
    refreshTokens.set(refresh, scope);
    return json({
      access_token: access,
      token_type: "Bearer",
      expires_in: options.expiresIn ?? 3600,
      refresh_token: refresh,
      ...(scope !== "" && { scope }),
    });
  };
  const answer = (heard: Heard): Answer => {
    const { form, query } = heard;
    switch (heard.path) {
      case "/.well-known/oauth-authorization-server": {
        const { metadata = {} } = options;
        return json({
          issuer: own.origin,
          authorization_endpoint: `${own.origin}/authorize`,
          token_endpoint: `${own.origin}/token`,
          registration_endpoint: `${own.origin}/register`,
          revocation_endpoint: `${own.origin}/revoke`,
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
          authorization_response_iss_parameter_supported: true,
          ...(typeof metadata === "function" ? metadata(own.origin) : metadata),
        });
      }
      case "/register":
        return json({ client_id: `client-${randomUUID()}`, ...heard.json }, 201);
      case "/authorize": {
        const code = randomUUID();
        codes.set(code, query);
        const back = new URL(query.get("redirect_uri") ?? "");
        back.searchParams.set("code", code);
        back.searchParams.set("state", query.get("state") ?? "");
        back.searchParams.set("iss", own.origin);
        return redirect(back.href);
      }
      case "/token": {
        const type = form.get("grant_type");
        if (type === "refresh_token") {
          const spent = form.get("refresh_token") ?? "";
          const scope = refreshTokens.get(spent);
          refreshTokens.delete(spent);
          return scope === undefined ? json({ error: "invalid_grant" }, 400) : give(scope);
        }
        if (type !== "authorization_code") return give(form.get("scope") ?? "");
        const asked = codes.get(form.get("code") ?? "");
        codes.delete(form.get("code") ?? "");
        const challenge = createHash("sha256")
          .update(form.get("code_verifier") ?? "")
          .digest("base64url");
        const fits =
          asked?.get("code_challenge") === challenge &&
          asked.get("redirect_uri") === form.get("redirect_uri") &&
          asked.get("resource") === form.get("resource");
        return fits ? give(asked.get("scope") ?? "") : json({ error: "invalid_grant" }, 400);
      }
      case "/revoke":
        tokens.delete(form.get("token") ?? "");
        refreshTokens.delete(form.get("token") ?? "");
        return json({});
      default:
        return nothing;
    }
  };
  const own = await site(async (heard) => (await options.quirks?.[heard.path]?.(heard)) ?? answer(heard));
  return {
    ...own,
    tokens,
    refreshTokens,
    grants: () => own.heard.filter(({ path }) => path === "/token").map(({ form }) => form),
    logins: () => own.heard.filter(({ path }) => path === "/authorize").map(({ query }) => query),
  };
}

export interface ProtectedSite extends Site {
  url: string;
  /** The requests to its endpoint: the method and the token of each. */
  calls(): { method: string; token: string | undefined }[];
}

export interface Protection {
  /** Whether a token counts; default: those of the authorization server. */
  takes?: (token: string) => string[] | undefined | Promise<string[] | undefined>;
  /** The scope that a tool needs; default none. */
  needs?: (tool: string) => string | undefined;
  /** More parameters of the challenge of a 401. */
  challenge?: string;
  /** Its own metadata; nothing: it has none. */
  metadata?: ((origin: string) => JsonObject) | undefined;
  quirks?: Quirks;
}

/** A modern server that takes the tokens of an authorization server. */
export async function protectedSite(
  authorization: Pick<AuthorizationSite, "origin" | "tokens">,
  protection: Protection = {},
): Promise<ProtectedSite> {
  const defaultMetadata = (origin: string): JsonObject => ({
    resource: `${origin}/mcp`,
    authorization_servers: [authorization.origin],
  });
  const { takes = (token) => authorization.tokens.get(token), needs, challenge = "", quirks } = protection;
  const metadata = "metadata" in protection ? protection.metadata : defaultMetadata;
  const metadataPath = "/.well-known/oauth-protected-resource/mcp";
  const respond = async (heard: Heard): Promise<Answer> => {
    if (heard.path === metadataPath) return metadata === undefined ? nothing : json(metadata(own.origin));
    if (heard.path !== "/mcp") return nothing;
    const named = metadata === undefined ? "" : `resource_metadata="${own.origin}${metadataPath}"`;
    const token = tokenOf(heard);
    const scopes = token === undefined ? undefined : await takes(token);
    if (scopes === undefined)
      return json({}, 401, { "www-authenticate": `Bearer ${[named, challenge].filter(Boolean).join(", ")}` });
    const { id, method, params } = heard.json as { id: number; method: string; params: { name: string } };
    const scope = method === "tools/call" ? needs?.(params.name) : undefined;
    if (scope !== undefined && !scopes.includes(scope)) {
      const wants = `Bearer error="insufficient_scope", scope="${scope}", ${named}`;
      return json({}, 403, { "www-authenticate": wants });
    }
    return json({ jsonrpc: "2.0", id, result: resultOf(method) });
  };
  const own = await site(async (heard) => (await quirks?.[heard.path]?.(heard)) ?? respond(heard));
  const calls = () =>
    own.heard
      .filter(({ path }) => path === "/mcp")
      .map((heard) => ({ method: String(heard.json.method), token: tokenOf(heard) }));
  return { ...own, url: `${own.origin}/mcp`, calls };
}

function resultOf(method: string): JsonObject {
  switch (method) {
    case "server/discover":
      return { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    case "tools/list":
      return { resultType: "complete", tools: [{ name: "print", inputSchema: { type: "object" } }] };
    default:
      return { content: [{ type: "text", text: "done" }] };
  }
}

function tokenOf({ headers }: Heard): string | undefined {
  return /^(?:Bearer|DPoP) (.*)$/.exec(headers.authorization ?? "")?.[1];
}

/** A browser whose user agrees to all. */
export async function agreeing(url: string): Promise<string> {
  const response = await fetch(url, { redirect: "manual" });
  return response.headers.get("location") ?? "";
}

export interface Stage {
  /** Starts an authorization server, and a server that names it. */
  world(
    authorizing?: Parameters<typeof authorizationSite>[0],
    protection?: Protection,
  ): Promise<{ authorization: AuthorizationSite; server: ProtectedSite }>;
  /** Connects; a user agrees to all, unless `auth` says otherwise. */
  connected(url: string, auth?: OAuthOptions, options?: ConnectOptions): Promise<Client>;
  /** Has something closed after the test; what was opened last goes first. */
  closes(close: () => unknown): void;
}

/** Ends with each test what it began. */
export function stage(): Stage {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  return {
    async world(authorizing, protection) {
      const authorization = await authorizationSite(authorizing);
      const server = await protectedSite(authorization, protection);
      closing.push(authorization.close, server.close);
      return { authorization, server };
    },
    async connected(url, auth = {}, options = {}) {
      const asks = auth.grant === undefined && auth.onAuthorize === undefined;
      const client = await connect(url, {
        ...options,
        auth: { ...(asks && { onAuthorize: agreeing }), ...auth },
      });
      closing.push(() => client.close());
      return client;
    },
    closes: (close) => closing.push(close),
  };
}
