/** Scopes: which are asked for, first and later (2026-07-28, basic/authorization § Scope Selection Strategy). */

/** Of a list that a server gives no more is read. */
const MAX_SCOPES = 200;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;

/** The scopes of a text, each once; what cannot be one is left out. */
export function scopesIn(text: string | undefined): string[] {
  return clean(text?.split(" ") ?? []);
}

/** Scopes out of what a document lists. */
export function clean(list: readonly unknown[]): string[] {
  const scopes = list.filter((scope): scope is string => typeof scope === "string" && SCOPE.test(scope));
  return [...new Set(scopes)].slice(0, MAX_SCOPES);
}

export function union(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

export function holds(all: readonly string[], some: readonly string[]): boolean {
  return some.every((scope) => all.includes(scope));
}
