/** What tools and prompts are made to say: blocks of content (server/tools § Tool Result). */

import type { Annotations, Meta } from "./base.ts";
import type { Resource, ResourceContents } from "./resources.ts";

interface Block {
  annotations?: Annotations;
  _meta?: Meta;
}

export interface TextContent extends Block {
  type: "text";
  text: string;
}

export interface ImageContent extends Block {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
}

export interface AudioContent extends Block {
  type: "audio";
  /** Base64. */
  data: string;
  mimeType: string;
}

/** A pointer to a resource that the receiver may read. */
export interface ResourceLink extends Resource {
  type: "resource_link";
}

export interface EmbeddedResource extends Block {
  type: "resource";
  resource: ResourceContents;
}

export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource;
