/** In which format a provider is told of tools. */

import type { ProviderName } from "../settings.ts";
import type { ToolFormat } from "../tools/formats.ts";

/** `none` for the rule planner: it reads tools as their servers describe them. */
export function formatOf(provider: ProviderName): ToolFormat | "none" {
  if (provider === "rules") return "none";
  return provider === "local" ? "openai" : provider;
}
