/** The providers' formats for tools: what each is called, and what it takes as a name and a description. */

/** How a provider wants to be told of tools, and tells of calls. */
export type ToolFormat = "openai" | "openai-responses" | "anthropic" | "gemini" | "deepseek" | "ollama";

export interface FormatRules {
  title: string;
  name: NameRules;
  /** Characters of a tool's description. */
  maxDescription?: number;
  /** Tools of one request. */
  maxTools?: number;
}

export interface NameRules {
  /** Characters of a name, all of the set `[a-zA-Z0-9_-]`. */
  maxLength: number;
  /** Whether a name may begin with a digit or `-`. */
  anyStart: boolean;
}

const OPENAI_NAME: NameRules = { maxLength: 64, anyStart: true };
const OPENAI = { name: OPENAI_NAME, maxDescription: 1_024, maxTools: 128 };

export const FORMATS: Record<ToolFormat, FormatRules> = {
  openai: { title: "OpenAI Chat Completions", ...OPENAI },
  "openai-responses": { title: "OpenAI Responses", ...OPENAI },
  anthropic: { title: "Anthropic Messages", name: { maxLength: 128, anyStart: true } },
  gemini: { title: "Gemini", name: { maxLength: 64, anyStart: false } },
  deepseek: { title: "DeepSeek", name: OPENAI_NAME, maxDescription: 1_024, maxTools: 128 },
  ollama: { title: "Ollama", name: OPENAI_NAME },
};

export const TOOL_FORMATS = Object.keys(FORMATS) as ToolFormat[];
