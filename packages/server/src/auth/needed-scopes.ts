/** Which scopes a request needs, told before it is carried out: where its answer has no status of its own. */

import { isObject, type JsonObject } from "@patchbay/core";
import type { Catalog } from "../catalog.ts";
import type { Listed } from "../listing.ts";

export interface NeededScopes {
  readonly scopes: readonly string[];
  /** What needs them, as errors name it. */
  readonly what: string;
}

/** @returns nothing where none are needed, or who asks may not even know that it is there: they hear that by its answer */
export function neededScopes(catalog: Catalog, method: string, params: JsonObject): NeededScopes | undefined {
  const [what, entry] = namedBy(catalog, method, params) ?? [];
  if (what === undefined || entry?.scopes === undefined || entry.enabled !== undefined) return undefined;
  return { scopes: entry.scopes, what };
}

function namedBy(
  catalog: Catalog,
  method: string,
  params: JsonObject,
): [string, Listed | undefined] | undefined {
  const { name, uri, ref } = params;
  switch (method) {
    case "tools/call":
      return [`${name}`, catalog.tools.find(`${name}`)];
    case "prompts/get":
      return [`${name}`, catalog.prompts.find(`${name}`)];
    case "resources/read":
      return [`${uri}`, catalog.resources.find(`${uri}`) ?? templateOf(catalog, `${uri}`)];
    case "completion/complete":
      if (!isObject(ref)) return undefined;
      if (ref.type === "ref/prompt") return [`${ref.name}`, catalog.prompts.find(`${ref.name}`)];
      return [`${ref.uri}`, catalog.resourceTemplates.find(`${ref.uri}`)];
  }
  return undefined;
}

/** The first that matches is the one that is read. */
function templateOf({ resourceTemplates }: Catalog, uri: string): Listed | undefined {
  return [...resourceTemplates.values()].find(({ template }) => template.match(uri) !== undefined);
}
