/** URI templates (RFC 6570) read backwards: which values make a template into this URI? */

interface Variable {
  name: string;
  /** `{+name}` may hold `/`, `{name}` may not. */
  reserved: boolean;
  /** The text that follows it; empty at the end. */
  until: string;
}

/** The values of a template's variables. */
export type Variables = Record<string, string>;

/** A template made ready to be matched. Matching takes one pass, without regular expressions. */
export interface UriTemplate {
  readonly variables: readonly string[];
  /** The variables' values, decoded, or nothing when the URI is not of this template. */
  match(uri: string): Variables | undefined;
}

/**
 * Reads a template of simple expressions: `{name}`, which holds no `/`, and `{+name}`, which holds anything.
 *
 * @throws Error when an expression is of another kind, or two of them touch
 */
export function parseUriTemplate(template: string): UriTemplate {
  const pieces = template.split(/\{([^{}]*)\}/);
  const prefix = pieces[0] as string;
  const variables: Variable[] = [];
  for (let index = 1; index < pieces.length; index += 2) {
    const [, operator, name] = /^(\+?)([\w.]+)$/.exec(pieces[index] as string) ?? [];
    if (name === undefined) {
      throw new Error(
        `URI template "${template}": "{${pieces[index]}}" is not supported; use {name} or {+name}`,
      );
    }
    if (variables.some((variable) => variable.name === name)) {
      throw new Error(`URI template "${template}": the variable "${name}" occurs twice`);
    }
    const until = pieces[index + 1] as string;
    if (until === "" && index + 2 < pieces.length) {
      throw new Error(`URI template "${template}": two variables need some text between them`);
    }
    variables.push({ name, reserved: operator === "+", until });
  }
  return {
    variables: variables.map((variable) => variable.name),
    match: (uri) => match(uri, prefix, variables),
  };
}

function match(uri: string, prefix: string, variables: readonly Variable[]): Variables | undefined {
  if (!uri.startsWith(prefix)) return undefined;
  const values: Variables = Object.create(null);
  let position = prefix.length;
  for (const [index, { name, reserved, until }] of variables.entries()) {
    // The last variable reaches to the last place where the rest fits; others stop at the first.
    const last = index === variables.length - 1;
    const end = last
      ? uri.endsWith(until)
        ? uri.length - until.length
        : -1
      : uri.indexOf(until, position + 1);
    if (end <= position) return undefined;
    const raw = uri.slice(position, end);
    if (!reserved && raw.includes("/")) return undefined;
    const value = decode(raw);
    if (value === undefined) return undefined;
    values[name] = value;
    position = end + until.length;
  }
  return position === uri.length ? values : undefined;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
