/** What an authorization server says that is of no use: it is refused or left out, and shows no secret. */

import { inspect } from "node:util";
import { expect, test } from "vitest";
import { login, memoryStore } from "../../src/oauth.ts";
import { agreeing, type Heard, json, stage } from "./world.ts";

const { world } = stage();

/** A browser that comes back with this code. */
const withCode = (code: string) => async (url: string) => {
  const back = new URL(await agreeing(url));
  back.searchParams.set("code", code);
  return back.href;
};

test("no secret is in an error, though the authorization server repeats all that it was sent", async () => {
  const repeats = ({ body, headers }: Heard) =>
    json({ error: "invalid_grant", error_description: `${body} ${headers.authorization}` }, 400);
  const { authorization, server } = await world({ quirks: { "/token": repeats } });
  const { origin } = authorization;
  const onAuthorize = withCode("canary/code");
  const secret = { clientId: "me", clientSecret: "canary&secret", issuer: origin };
  for (const how of ["client_secret_basic", "client_secret_post"] as const) {
    const error = await login(server.url, { ...secret, clientAuthMethod: how, onAuthorize }).catch((e) => e);
    expect(error.message).toContain("invalid_grant: ");
    const { form, headers } = authorization.heard.filter(({ path }) => path === "/token").at(-1) as Heard;
    const basic = headers.authorization?.slice("Basic ".length) ?? "canary";
    for (const each of ["canary", form.get("code_verifier") ?? "canary", basic])
      expect(error.message).not.toContain(each);
  }
});

test.each([
  ["with a line break", "canary\r\nx: y"],
  ["with a space", "canary x"],
  ["that is not ASCII", "canary-ü"],
])("a token %s is not kept, for no request could carry it", async (_name, token) => {
  const { server } = await world({
    quirks: { "/token": () => json({ access_token: token, token_type: "bearer" }) },
  });
  const store = memoryStore();
  const error = await login(server.url, { store, onAuthorize: agreeing }).catch((thrown) => thrown);
  expect(error).toMatchObject({ name: "AuthorizationError", step: "token" });
  expect(inspect(error)).not.toContain("canary");
  expect(await store.list("grant")).toEqual([]);
});

test("what is said of a token is a date, and scopes, or nothing", async () => {
  const given = { access_token: "t", token_type: "bearer", scope: "\u001b[2Jread  write", expires_in: 1e15 };
  const { server } = await world({ quirks: { "/token": () => json(given) } });
  const account = await login(server.url, { onAuthorize: agreeing });
  expect(account).toMatchObject({ scopes: ["write"], expiresAt: undefined });
});

test.each([
  ["authorization_endpoint", 5, "has no authorization_endpoint"],
  ["token_endpoint", ["https://x"], "token_endpoint"],
  ["registration_endpoint", {}, "lets nobody register"],
  ["code_challenge_methods_supported", "S256", "does not say that it does PKCE"],
  ["code_challenge_methods_supported", 5, "does not say that it does PKCE"],
])("metadata whose %s is %j does without", async (member, value, what) => {
  const { server } = await world({ metadata: { [member]: value } });
  const error = await login(server.url, { onAuthorize: agreeing }).catch((thrown) => thrown);
  expect(error).toMatchObject({ name: "AuthorizationError" });
  expect(error.message).toContain(what);
});
