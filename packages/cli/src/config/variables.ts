/** Takes secrets out of a server's entry: each becomes `${VARIABLE}`, and its value stays where it was. */

import { VARIABLES } from "./known-variables.ts";
import type { ReachedServer, ServerEntry, StartedServer } from "./schema.ts";

/** A secret that an entry names by a variable now. */
export interface Moved {
  variable: string;
  /** Where its value stands in the entry that it was taken from, such as `env.API_KEY`. */
  at: string;
}

const SECRET_NAME =
  /key|token|secret|pass(?:word|wd|phrase)?|pwd|auth|credential|cookie|dsn|database_url|connection/i;
/** As keys of well-known services begin; a JSON Web Token; a URL with a password. */
const SECRET_VALUE =
  /^(?:sk|pk|rk|xox[a-z]|gh[a-z]|github_pat|glpat|npm|hf|tvly|fc|AKIA|AIza|ya29)[-_.A-Za-z0-9]{12,}$|^eyJ[\w-]+\.[\w-]+\.|:\/\/[^/?#\s:@]*:[^/?#\s@]+@/;
const HARMLESS_HEADERS = ["accept", "accept-language", "content-type", "user-agent"];
/** A part of a path that nobody would remember: services hand out URLs that are a key themselves. */
const SECRET_SEGMENT = /^(?=.*\d)(?=.*[A-Za-z])[\w~%=+-]{20,}$/;
const VARIABLE = /\$\{[^}]+\}/;

/**
 * The entry without secrets, and the variables that stand for them.
 *
 * @param taken the variables that have been given out, each with what it stands for; is added to
 */
export function withoutValues(
  name: string,
  entry: ServerEntry,
  taken: Map<string, string>,
): { entry: ServerEntry; moved: Moved[] } {
  const moved: Moved[] = [];
  const prefix = variableName(name);
  const move = (secret: string, wanted: string, at: string): string => {
    const own = wanted.startsWith(prefix) ? wanted : `${prefix}_${wanted}`;
    let variable = taken.get(wanted) === undefined || taken.get(wanted) === secret ? wanted : own;
    for (let number = 2; taken.has(variable) && taken.get(variable) !== secret; number++)
      variable = `${own}_${number}`;
    taken.set(variable, secret);
    moved.push({ variable, at });
    return `\${${variable}}`;
  };
  const changed =
    "command" in entry ? startedWithout(entry, prefix, move) : reachedWithout(entry, prefix, move);
  return { entry: changed, moved };
}

type Move = (secret: string, variable: string, at: string) => string;

function startedWithout(entry: StartedServer, prefix: string, move: Move): StartedServer {
  const changed = { ...entry };
  if (entry.env !== undefined) {
    changed.env = mapValues(entry.env, (value, key) => {
      const at = `env.${key}`;
      if (isSecret(key, value)) return move(value, variableName(key), at);
      return urlWithout(value, prefix, (secret, name) => move(secret, name, at));
    });
  }
  const { args = [] } = entry;
  if (entry.args !== undefined) {
    changed.args = args.map((text, index) => {
      const at = `args[${index}]`;
      const before = args[index - 1] ?? "";
      // `--header "Authorization: Bearer x"`, in two arguments or in one.
      const header =
        /^((?:--header=|-H)?[\w-]+:\s*(?:(?:Bearer|Basic|Token)\s+)?)(\S.*)$/is.exec(text) ?? undefined;
      const isHeader = /^(?:--header|-H)$/.test(before) || /^(?:--header=|-H[\w-]+:)/.test(text);
      if (isHeader && header !== undefined && !VARIABLE.test(text) && !isHarmlessHeader(text))
        return header[1] + move(header[2] as string, `${prefix}_TOKEN`, at);
      if (/^https?:\/\//i.test(text))
        return urlWithout(text, prefix, (secret, name) => move(secret, name, at));
      // `--token=x`, `TOKEN=x` after `-e`, `--env=TOKEN=x`.
      const [, own = "", option = "", value = ""] =
        /^((?:--?[\w-]+=)?)(--?[\w-]+|[A-Za-z_][\w.-]*)=(.*)$/s.exec(text) ?? [];
      if (option !== "" && isSecret(option, value)) {
        const name = variableName(option);
        return `${own}${option}=${move(value, option.startsWith("-") ? `${prefix}_${name}` : name, at)}`;
      }
      // `--token x`.
      const follows = /^--?[\w-]+$/.test(before) && !text.startsWith("-") && SECRET_NAME.test(before);
      if (VARIABLE.test(text) || text.length < 4) return text;
      return follows || SECRET_VALUE.test(text)
        ? move(text, `${prefix}_${follows ? variableName(before) : "TOKEN"}`, at)
        : text;
    });
  }
  return changed;
}

function reachedWithout(entry: ReachedServer, prefix: string, move: Move): ReachedServer {
  const changed = { ...entry, url: urlWithout(entry.url, prefix, move) };
  if (entry.headers !== undefined) {
    changed.headers = mapValues(entry.headers, (value, key) => {
      if (HARMLESS_HEADERS.includes(key.toLowerCase()) || VARIABLE.test(value) || value === "") return value;
      const [, scheme = "", secret = value] = /^((?:Bearer|Basic|Token)\s+)(.+)$/is.exec(value) ?? [];
      const of = /^authorization$/i.test(key) ? "TOKEN" : variableName(key);
      return scheme + move(secret, `${prefix}_${of}`, `headers.${key}`);
    });
  }
  return changed;
}

function isHarmlessHeader(text: string): boolean {
  const name = text.replace(/^(?:--header=|-H(?=[\w-]+:))/, "").split(":")[0] ?? "";
  return HARMLESS_HEADERS.includes(name.toLowerCase());
}

function urlWithout(url: string, prefix: string, move: Move): string {
  const withoutKey = (part: string) =>
    SECRET_SEGMENT.test(part) || SECRET_VALUE.test(part) ? move(part, `${prefix}_PATH_KEY`, "url") : part;
  if (!/^https?:\/\//i.test(url)) return url;
  return url
    .replace(
      /^(https?:\/\/[^/?#]*)([^?#]*)/i,
      (_, origin: string, path: string) => origin + path.split("/").map(withoutKey).join("/"),
    )
    .replace(/^(https?:\/\/)([^/?#@]+)@/i, (whole, scheme: string, user: string) =>
      VARIABLE.test(user) ? whole : `${scheme}${move(user, `${prefix}_USER`, "url")}@`,
    )
    .replace(/([?&])([^=&#]+)=([^&#]+)/g, (whole, sign: string, key: string, value: string) =>
      isSecret(key, value) ? `${sign}${key}=${move(value, `${prefix}_${variableName(key)}`, "url")}` : whole,
    );
}

/** Whether a variable of an environment holds what is nobody else's business. */
export function isSecretVariable(name: string, value: string): boolean {
  return VARIABLES[name] === "key" || (VARIABLES[name] === undefined && isSecret(name, value));
}

function isSecret(name: string, value: string): boolean {
  if (value === "" || VARIABLE.test(value) || /^(?:true|false|\d{1,6})$/i.test(value)) return false;
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

/** `my-server` → `MY_SERVER`. */
export function variableName(name: string): string {
  const words = name.replace(/([a-z\d])([A-Z])/g, "$1_$2").toUpperCase();
  return words
    .replace(/[^A-Z\d]+/g, "_")
    .replace(/^_|_$/g, "")
    .replace(/^(?=\d)|^$/, "_");
}

function mapValues(
  values: Record<string, string>,
  change: (value: string, key: string) => string,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value, key)]));
}
