/** Prompts: message templates that a user picks (server/prompts). */

import type { CacheHints, Icon, Meta, Page, Result, Role } from "./base.ts";
import type { ContentBlock } from "./content.ts";

export interface PromptArgument {
  name: string;
  title?: string;
  description?: string;
  required?: boolean;
}

export interface Prompt {
  name: string;
  title?: string;
  description?: string;
  arguments?: PromptArgument[];
  icons?: Icon[];
  _meta?: Meta;
}

export interface PromptMessage {
  role: Role;
  content: ContentBlock;
}

export interface ListPromptsResult extends Result, Page, CacheHints {
  prompts: Prompt[];
}

export interface GetPromptResult extends Result {
  description?: string;
  messages: PromptMessage[];
}
