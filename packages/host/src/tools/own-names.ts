/** The tools that the host itself offers a model. A server's tool of such a name is prefixed. */

export const READ_MORE = "read_more";
export const SEARCH_TOOLS = "search_tools";
export const OWN_NAMES: ReadonlySet<string> = new Set([READ_MORE, SEARCH_TOOLS]);
