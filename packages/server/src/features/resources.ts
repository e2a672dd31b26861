/** Resources and their templates: defined, listed, read (server/resources). */

import {
  type Annotations,
  type CacheHints,
  ErrorCode,
  type Icon,
  isObject,
  type JsonObject,
  type Meta,
  metaFault,
  ProtocolError,
  type ReadResourceResult,
  type Resource,
  type ResourceContents,
  ResourceNotFoundError,
  type ResourceTemplate,
} from "@patchbay/core";
import { checkScopes } from "../auth/access.ts";
import { Context } from "../context.ts";
import type { Exchange } from "../exchange.ts";
import { type Enabled, isListed, type Listed, type Listing } from "../listing.ts";
import { parseUriTemplate, type UriTemplate, type Variables } from "../uri-template.ts";
import { cacheHints, hintsFault } from "./cache-hints.ts";
import type { Complete } from "./completion.ts";
import { checkMeta, contentsFault, isContents } from "./content.ts";

/**
 * Begins to watch a resource that somebody subscribed to; `server.resourceUpdated(uri)` then tells of its changes. A
 * `ProtocolError` refuses: nobody is told of that resource.
 *
 * @returns ends it
 */
export type Watch = (uri: string) => (() => void) | Promise<() => void>;

/** What a resource is, besides its URI. */
export interface ResourceDefinition {
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes. */
  size?: number;
  icons?: Icon[];
  annotations?: Annotations;
  _meta?: Meta;
  /** Who it is offered to. Default: everybody. */
  enabled?: Enabled;
  /** Scopes that reading it takes: who lacks one does not see it listed, and is told so when reading it. */
  scopes?: readonly string[];
  /** How long what was read may be kept, and by whom. Default: not at all, by its reader alone. */
  cache?: CacheHints;
  /** Watches it while somebody wants to hear of its changes. Default: whoever changes it tells, unasked. */
  watch?: Watch;
}

/** What the resources of a template are, besides their URIs. */
export interface ResourceTemplateDefinition extends Omit<ResourceDefinition, "size"> {
  /** Suggestions for the template's variables. */
  complete?: Record<string, Complete>;
}

/** Text, bytes (sent as base64), contents as they are sent, or a whole result. */
export type ResourceReturn = string | Uint8Array | ResourceContents | ResourceContents[] | ReadResourceResult;

export type ResourceReader = (uri: string, context: Context) => ResourceReturn | Promise<ResourceReturn>;

/** Throw `ResourceNotFoundError` when the variables name nothing. */
export type ResourceTemplateReader = (
  uri: string,
  variables: Variables,
  context: Context,
) => ResourceReturn | Promise<ResourceReturn>;

export interface ResourceEntry extends Listed {
  readonly definition: Resource;
  readonly cache: Required<CacheHints>;
  readonly watch: Watch | undefined;
  readonly read: ResourceReader;
}

export interface ResourceTemplateEntry extends Listed {
  readonly definition: ResourceTemplate;
  readonly template: UriTemplate;
  readonly cache: Required<CacheHints>;
  readonly watch: Watch | undefined;
  readonly complete: Record<string, Complete>;
  readonly read: ResourceTemplateReader;
}

export function resourceEntry(
  uri: string,
  resource: ResourceDefinition,
  read: ResourceReader,
): ResourceEntry {
  if (!URL.canParse(uri))
    throw new Error(`Resource "${uri}": a resource's URI is absolute, such as "file:///notes.txt"`);
  const { cache, enabled, scopes, watch, ...rest } = resource;
  checkMeta(`Resource "${uri}"`, rest._meta);
  checkScopes(`Resource "${uri}"`, scopes);
  return {
    definition: { uri, ...rest },
    enabled,
    scopes,
    cache: cacheHints({ cacheScope: "private", ...cache }),
    watch,
    read,
  };
}

export function resourceTemplateEntry(
  uriTemplate: string,
  resource: ResourceTemplateDefinition,
  read: ResourceTemplateReader,
): ResourceTemplateEntry {
  const { cache, enabled, scopes, watch, complete = {}, ...rest } = resource;
  const template = parseUriTemplate(uriTemplate);
  checkMeta(`URI template "${uriTemplate}"`, rest._meta);
  checkScopes(`URI template "${uriTemplate}"`, scopes);
  for (const name of Object.keys(complete)) {
    if (!template.variables.includes(name))
      throw new Error(`URI template "${uriTemplate}" has no variable "${name}"`);
  }
  return {
    definition: { uriTemplate, ...rest },
    enabled,
    scopes,
    template,
    cache: cacheHints({ cacheScope: "private", ...cache }),
    watch,
    complete,
    read,
  };
}

/** Answers `resources/read`. */
export async function readResource(
  resources: Listing<ResourceEntry>,
  templates: Listing<ResourceTemplateEntry>,
  params: JsonObject,
  exchange: Exchange,
): Promise<ReadResourceResult> {
  const { uri } = params;
  if (typeof uri !== "string") throw new ProtocolError(ErrorCode.InvalidParams, '"uri" must be a string');
  const resource = resources.get(uri, exchange);
  if (resource !== undefined) {
    const given = await resource.read(uri, new Context(exchange, params));
    return toResult(given, uri, resource);
  }
  for (const [key, entry] of templates.there(exchange)) {
    const variables = entry.template.match(uri);
    if (variables === undefined) continue;
    templates.permit(key, entry, exchange);
    const given = await entry.read(uri, variables, new Context(exchange, params));
    return toResult(given, uri, entry);
  }
  throw new ResourceNotFoundError(uri);
}

/** Whether there is such a resource, but not for who asks: then they hear nothing of it either. */
export function isHidden(
  resources: Listing<ResourceEntry>,
  templates: Listing<ResourceTemplateEntry>,
  uri: string,
  exchange: Exchange,
): boolean {
  if (resources.has(uri, exchange)) return false;
  const matching = [...templates.values()].filter(({ template }) => template.match(uri) !== undefined);
  if (matching.some((entry) => isListed(entry, exchange))) return false;
  return matching.length > 0 || resources.find(uri) !== undefined;
}

/** What watches a resource, where it is watched for those who subscribe to it. */
export function watchOf(
  resources: Listing<ResourceEntry>,
  templates: Listing<ResourceTemplateEntry>,
  uri: string,
  exchange: Exchange,
): Watch | undefined {
  const resource = resources.get(uri, exchange);
  if (resource !== undefined) return resource.watch;
  for (const [, entry] of templates.there(exchange))
    if (entry.template.match(uri) !== undefined) return entry.watch;
  return undefined;
}

/** @throws Error when what the reader gave may not be sent */
function toResult(
  given: ResourceReturn,
  uri: string,
  entry: ResourceEntry | ResourceTemplateEntry,
): ReadResourceResult {
  const { mimeType } = entry.definition;
  const typed = mimeType === undefined ? { uri } : { uri, mimeType };
  // What is not for everybody is for nobody else's cache, whatever it says.
  const closed = entry.scopes !== undefined || entry.enabled !== undefined;
  const cache: Required<CacheHints> = closed ? { ...entry.cache, cacheScope: "private" } : entry.cache;
  if (typeof given === "string") return { contents: [{ ...typed, text: given }], ...cache };
  if (given instanceof Uint8Array) return { contents: [{ ...typed, blob: toBase64(given) }], ...cache };
  const whole = isObject(given) && Array.isArray(given.contents) ? (given as ReadResourceResult) : undefined;
  const contents = whole?.contents ?? (Array.isArray(given) ? given : [given as ResourceContents]);
  const fault = readFault(contents, whole?._meta) ?? (whole && hintsFault(whole));
  if (fault !== undefined) throw new Error(`Resource "${uri}": what was read is not valid: ${fault}`);
  if (whole === undefined) return { contents, ...cache };
  return { ...cache, ...whole, ...(closed && { cacheScope: "private" as const }) };
}

function readFault(contents: readonly ResourceContents[], meta: unknown): string | undefined {
  const fault = meta === undefined ? undefined : metaFault(meta);
  if (fault !== undefined) return fault;
  for (const each of contents) {
    const wrong = isContents(each) ? contentsFault(each) : 'contents have a "uri", and a "text" or a "blob"';
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function toBase64(bytes: Uint8Array): string {
  if (typeof Buffer !== "undefined")
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  let binary = "";
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary);
}
