/** What a configuration holds that no message may show: values of variables, headers, parts of URLs. */

import type { ServerEntry } from "./config/schema.ts";

/** A text that is not shown, and what stands in its place. */
export type Hidden = readonly [text: string, instead: string];

/** Shorter ones hide nothing, and stand in too many other words. */
const MIN_LENGTH = 4;

/** What an entry holds. `variables` are those that were put into it. */
export function secretsOf(entry: ServerEntry, variables: ReadonlyMap<string, string>): Hidden[] {
  const hidden: Hidden[] = [...variables].map(([name, value]) => [value, `[${name}]`]);
  if (!("url" in entry)) return hidden;
  for (const [name, value] of Object.entries(entry.headers ?? {})) {
    // `Bearer key`: the key alone is no less a secret.
    for (const text of [value, value.slice(value.lastIndexOf(" ") + 1)]) hidden.push([text, `[${name}]`]);
  }
  return [...hidden, ...secretsOfUrl(entry.url)];
}

/** The user, the password and the query of a URL. */
export function secretsOfUrl(url: string): Hidden[] {
  const user = USER.exec(url)?.[2] ?? "";
  const query = QUERY.exec(url)?.[0] ?? "";
  const values = query
    .slice(1)
    .split("&")
    .map((pair) => pair.slice(pair.indexOf("=") + 1));
  const parts = [...user.slice(0, -1).split(":"), ...values];
  return [[user, ""], [query, "?…"], ...parts.map((part): Hidden => [part, "…"])];
}

/** `https://host/path?…` */
export function shownUrl(url: string): string {
  return url.replace(USER, "$1").replace(QUERY, "?…");
}

const USER = /^(https?:\/\/)([^/?#]*@)/i;
const QUERY = /\?.+$/s;

/** Replaces what is hidden, the longest first; as it is, and as a URL spells it. */
export function withoutSecrets(text: string, hidden: readonly Hidden[]): string {
  const all = hidden.flatMap(([secret, instead]): Hidden[] => {
    const forms = [secret, encoded(secret), decoded(secret)];
    return forms.filter((form) => form.length >= MIN_LENGTH).map((form) => [form, instead]);
  });
  all.sort(([a], [b]) => b.length - a.length);
  return all.reduce((left, [secret, instead]) => left.replaceAll(secret, () => instead), text);
}

/** Half a surrogate has no such form. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text;
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
