/** An issuer of tokens at a port of its own: metadata, keys that rotate, and questions about tokens. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export const AUDIENCE = "https://mcp.example/mcp";

export interface Issuer {
  origin: string;
  /** The paths that were asked for. */
  asked: string[];
  /** A token as it should be, but for what is said. */
  token(
    claims?: JWTPayload & { [claim: string]: unknown },
    header?: { alg?: string; kid?: string },
  ): Promise<string>;
  /** From now on it signs with another key, and publishes that alone. */
  rotate(): Promise<void>;
  /** What it says about opaque tokens, by the token. */
  opaque: Map<string, object>;
  /** Answers in place of it, by path. */
  quirks: Map<string, { status?: number; headers?: Record<string, string>; body?: string }>;
  publicKey(): JWK;
  close(): Promise<void>;
}

export async function issuer(): Promise<Issuer> {
  const asked: string[] = [];
  const opaque = new Map<string, object>();
  const quirks: Issuer["quirks"] = new Map();
  let kid = 0;
  let key: CryptoKey;
  let jwk: JWK;
  async function rotate(): Promise<void> {
    const pair = await generateKeyPair("ES256", { extractable: true });
    key = pair.privateKey;
    jwk = { ...(await exportJWK(pair.publicKey)), kid: `${++kid}`, alg: "ES256", use: "sig" };
  }
  await rotate();
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    let body = "";
    for await (const piece of request) body += piece;
    const quirk = quirks.get(path);
    const send = (value: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (quirk !== undefined) return response.writeHead(quirk.status ?? 200, quirk.headers).end(quirk.body);
    switch (path) {
      case "/.well-known/oauth-authorization-server":
        return send({ issuer: origin, jwks_uri: `${origin}/jwks` });
      case "/jwks":
        return send({ keys: [jwk] });
      case "/introspect": {
        const who = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString();
        if (who !== "resource%3A1:s%26cret") return response.writeHead(401).end();
        return send(opaque.get(new URLSearchParams(body).get("token") ?? "") ?? { active: false });
      }
      default:
        return response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    asked,
    opaque,
    quirks,
    rotate,
    publicKey: () => jwk,
    token(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const payload = {
        iss: origin,
        aud: AUDIENCE,
        sub: "ann",
        client_id: "app",
        iat: now,
        exp: now + 600,
        ...claims,
      };
      for (const [name, value] of Object.entries(payload))
        if (value === undefined) delete (payload as JWTPayload)[name];
      return new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: `${kid}`, ...header }).sign(key);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
