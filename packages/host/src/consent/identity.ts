/** What a server is, as far as a configuration says it: a change of any of it has to be approved. */

/**
 * What is kept of it, and shown, is what is given here: leave secrets out, or put their names in their places.
 */
export interface ServerIdentity {
  /** The name that the configuration gives it. */
  name: string;
  /** The file that configures it: two files may each have a server of this name. */
  file?: string;
  /**
   * - `builtin`: comes with Patchbay
   * - `typed`: the user named its command or URL this time
   * - `configured`: a file says what it is
   *
   * The first two need no approval.
   */
  origin: "builtin" | "typed" | "configured";
  command?: string;
  args?: readonly string[];
  cwd?: string;
  /** The names of the variables that it is given; not their values. */
  env?: readonly string[];
  url?: string;
  /** The names of its headers; not their values. */
  headers?: readonly string[];
  /** Of all that configures it, values too: what is not shown here is noticed when it changes. */
  digest?: string;
}

/** Under what its approval is kept. */
export function trustKey({ name, origin, file }: ServerIdentity): string {
  return origin === "builtin" ? `builtin#${name}` : `${file ?? origin}#${name}`;
}
