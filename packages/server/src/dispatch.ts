/** Method → handler. It knows no era and no transport. */

import { ErrorCode, type JsonObject, ProtocolError, type Result } from "@patchbay/core";
import type { Catalog, Offer } from "./catalog.ts";
import { countedAs, type Exchange } from "./exchange.ts";
import { complete } from "./features/completion.ts";
import { getPrompt } from "./features/prompts.ts";
import { readResource } from "./features/resources.ts";
import { callTool, type ReportError } from "./features/tools.ts";
import type { ReadyPage } from "./listing.ts";
import type { RateGates, Rates } from "./rates.ts";

/** A result, or a page of a list that has its text already. */
export type Reply = Result | ReadyPage;

type Method = (
  catalog: Catalog,
  params: JsonObject,
  exchange: Exchange,
  report: ReportError,
) => Reply | Promise<Reply>;

interface Route {
  run: Method;
  /** A method that the server offers nothing for is not found (schema § MethodNotFoundError). */
  offer: Offer | "completions";
  /** How often it may be asked for is bounded. */
  rate?: keyof Rates;
}

const ROUTES = new Map<string, Route>([
  [
    "tools/list",
    { run: (catalog, { cursor }, exchange) => catalog.tools.page(cursor, exchange), offer: "tools" },
  ],
  [
    "tools/call",
    {
      run: (catalog, params, exchange, report) => callTool(catalog.tools, params, exchange, report),
      offer: "tools",
      rate: "calls",
    },
  ],
  [
    "resources/list",
    { run: (catalog, { cursor }, exchange) => catalog.resources.page(cursor, exchange), offer: "resources" },
  ],
  [
    "resources/templates/list",
    {
      run: (catalog, { cursor }, exchange) => catalog.resourceTemplates.page(cursor, exchange),
      offer: "resources",
    },
  ],
  [
    "resources/read",
    {
      run: (catalog, params, exchange) =>
        readResource(catalog.resources, catalog.resourceTemplates, params, exchange),
      offer: "resources",
    },
  ],
  [
    "prompts/list",
    { run: (catalog, { cursor }, exchange) => catalog.prompts.page(cursor, exchange), offer: "prompts" },
  ],
  [
    "prompts/get",
    { run: (catalog, params, exchange) => getPrompt(catalog.prompts, params, exchange), offer: "prompts" },
  ],
  [
    "completion/complete",
    {
      run: (catalog, params, exchange) =>
        complete(catalog.prompts, catalog.resources, catalog.resourceTemplates, params, exchange),
      offer: "completions",
      rate: "completions",
    },
  ],
]);

/**
 * Carries out a request.
 *
 * @throws ProtocolError when the request is wrong; anything else when the work failed
 */
export function dispatch(
  catalog: Catalog,
  method: string,
  params: JsonObject,
  exchange: Exchange,
  report: ReportError,
  rates: RateGates,
): Reply | Promise<Reply> {
  const route = ROUTES.get(method);
  if (route === undefined || !catalog.offers(route.offer)) throw methodNotFound(method);
  if (route.rate !== undefined) rates[route.rate].pass(countedAs(exchange));
  return route.run(catalog, params, exchange, report);
}

export function methodNotFound(method: string): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method.slice(0, 128)}`);
}
