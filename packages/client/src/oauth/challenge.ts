/** What a server wants, by its `WWW-Authenticate` (RFC 9110 § 11.6.1, RFC 6750 § 3, RFC 9728 § 5.1). */

/** The challenge for a token; members that it does not have are undefined. */
export interface Challenge {
  /** Whether a token that is bound to a key is wanted (RFC 9449 § 7.1). */
  readonly dpop: boolean;
  readonly error: string | undefined;
  readonly scope: string | undefined;
  /** Where the Protected Resource Metadata is. */
  readonly resourceMetadata: string | undefined;
}

const NONE: Challenge = { dpop: false, error: undefined, scope: undefined, resourceMetadata: undefined };
/** Of a longer header nothing is read. */
const MAX_LENGTH = 8 * 1024;

const SCHEME = /^[\s,]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?=[\s,]|$)/;
const PARAMETER =
  /^[\s,]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+\-.^_`|~0-9A-Za-z:/?@]+))(?=[\s,]|$)/;
const TOKEN68 = /^\s+[A-Za-z0-9\-._~+/]+=*(?=\s*(?:,|$))/;

/** Reads the challenge that asks for a token; DPoP goes before Bearer where a server offers both. */
export function readChallenge(header: string | undefined): Challenge {
  if (header === undefined || header.length > MAX_LENGTH) return NONE;
  const challenges = parse(header);
  const chosen = challenges.get("dpop") ?? challenges.get("bearer");
  if (chosen === undefined) return NONE;
  return {
    dpop: challenges.has("dpop"),
    error: chosen.get("error"),
    scope: chosen.get("scope"),
    resourceMetadata: chosen.get("resource_metadata"),
  };
}

/** The challenges by their schemes, in lower case; what is not well-formed ends the reading. */
function parse(header: string): Map<string, Map<string, string>> {
  const challenges = new Map<string, Map<string, string>>();
  let rest = header;
  while (true) {
    const scheme = SCHEME.exec(rest);
    if (scheme === null) return challenges;
    rest = rest.slice(scheme[0].length);
    const parameters = new Map<string, string>();
    challenges.set((scheme[1] as string).toLowerCase(), parameters);
    const token = TOKEN68.exec(rest);
    if (token !== null && PARAMETER.exec(rest) === null) rest = rest.slice(token[0].length);
    for (let found = PARAMETER.exec(rest); found !== null; found = PARAMETER.exec(rest)) {
      const [all, name = "", quoted, bare = ""] = found;
      const value = quoted === undefined ? bare : quoted.replace(/\\(.)/g, "$1");
      parameters.set(name.toLowerCase(), value);
      rest = rest.slice(all.length);
    }
  }
}
