/** How a client proves to a server behind a URL who asks: what a caller may choose. */

/** A token, or what gives one: called when there is none, and again when the server did not take the last. */
export type TokenSource = string | ((context: TokenContext) => string | Promise<string>);

/** What a source of tokens is told. */
export interface TokenContext {
  /** The token that the server did not take; nothing the first time. */
  readonly refused: string | undefined;
  /** The scopes that the server says it wants (403 `insufficient_scope`), separated by spaces. */
  readonly scope: string | undefined;
}

/** How to be authorized. Over stdio, and in this process, it has no meaning. */
export type Auth = TokenSource;
