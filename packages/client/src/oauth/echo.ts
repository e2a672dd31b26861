/** What an authorization server repeats of what it was sent: many say which code or token they did not like. */

/** Parameters of requests to it that are secrets, or prove something. */
const SECRET = [
  ...["code", "code_verifier", "refresh_token", "client_secret"],
  ...["client_assertion", "assertion", "subject_token", "token"],
];
/** A shorter one would be found in other words. */
const MIN_LENGTH = 4;

/** Its answer without what was secret in the request, as that was sent and as it is meant. */
export function withoutEcho(
  answer: string,
  body: string | URLSearchParams | null | undefined,
  headers: Record<string, string> = {},
): string {
  const form = new URLSearchParams(body ?? "");
  const [, basic = ""] = /^Basic (.+)$/i.exec(headers.authorization ?? "") ?? [];
  const password = Buffer.from(basic, "base64")
    .toString()
    .replace(/^[^:]*:/, "");
  const secrets = [basic, password, ...SECRET.map((name) => form.get(name) ?? "")]
    .flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      new URLSearchParams({ "": secret }).toString().slice(1),
    ])
    .filter((secret) => secret.length >= MIN_LENGTH);
  return secrets.reduce((left, secret) => left.replaceAll(secret, "…"), answer);
}
