/** Resources: data that a server offers to be read (server/resources). */

import type { Annotations, CacheHints, Icon, Meta, Page, Result } from "./base.ts";

export interface Resource {
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes, before any encoding. */
  size?: number;
  icons?: Icon[];
  annotations?: Annotations;
  _meta?: Meta;
}

export interface ResourceTemplate {
  /** RFC 6570. */
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  icons?: Icon[];
  annotations?: Annotations;
  _meta?: Meta;
}

export interface TextResourceContents {
  uri: string;
  mimeType?: string;
  text: string;
  _meta?: Meta;
}

export interface BlobResourceContents {
  uri: string;
  mimeType?: string;
  /** Base64. */
  blob: string;
  _meta?: Meta;
}

export type ResourceContents = TextResourceContents | BlobResourceContents;

export interface ListResourcesResult extends Result, Page, CacheHints {
  resources: Resource[];
}

export interface ListResourceTemplatesResult extends Result, Page, CacheHints {
  resourceTemplates: ResourceTemplate[];
}

export interface ReadResourceResult extends Result, CacheHints {
  contents: ResourceContents[];
}
