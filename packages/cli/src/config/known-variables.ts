/** The environment variables that Patchbay reads; `.env.example` says what each is for. */

/** What a variable is: a `key` is a secret, and never shown. */
export const VARIABLES: Readonly<Record<string, "key" | "setting">> = {
  MODEL_PROVIDER: "setting",
  MODEL: "setting",
  API_KEY: "key",
  OPENAI_API_KEY: "key",
  DEEPSEEK_API_KEY: "key",
  ANTHROPIC_API_KEY: "key",
  GEMINI_API_KEY: "key",
  GOOGLE_API_KEY: "key",
  OLLAMA_API_KEY: "key",
  OLLAMA_HOST: "setting",
  BASE_URL: "setting",
  MODEL_TEMPERATURE: "setting",
  MAX_TOKENS: "setting",
  MODEL_TIMEOUT_MS: "setting",
  MODEL_MAX_RETRIES: "setting",
  SYSTEM_PROMPT: "setting",
  MCP_TOOL_TIMEOUT_MS: "setting",
  TAVILY_API_KEY: "key",
  BRAVE_API_KEY: "key",
  EXA_API_KEY: "key",
  SEARXNG_URL: "setting",
  FIRECRAWL_API_KEY: "key",
  FIRECRAWL_API_URL: "setting",
  WEB_SEARCH_MAX_RESULTS: "setting",
  WEB_FETCH_MAX_CHARACTERS: "setting",
  WEB_FETCH_PRIVATE_HOSTS: "setting",
  WEB_FETCH_IGNORE_ROBOTS: "setting",
  DATABASE_URL: "key",
  PGHOST: "setting",
  PGPORT: "setting",
  PGUSER: "setting",
  PGPASSWORD: "key",
  PGPASSFILE: "setting",
  PGSSLMODE: "setting",
  OPEN_METEO_URL: "setting",
  OPEN_METEO_GEOCODING_URL: "setting",
  MCP_HTTP_HOST: "setting",
  MCP_STREAMABLE_HTTP_PORT: "setting",
  MCP_SSE_PORT: "setting",
  REDIS_URL: "key",
  PATCHBAY_SECRETS: "key",
  PATCHBAY_CLIENT_SECRET: "key",
  PATCHBAY_AUTH_CLIENT_SECRET: "key",
  PATCHBAY_KEYCHAIN: "setting",
  LANGSMITH_TRACING: "setting",
  LANGSMITH_API_KEY: "key",
  LANGSMITH_PROJECT: "setting",
  LANGSMITH_ENDPOINT: "setting",
};

/** The keys of models. */
export const KEYS = ["API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];

/** An empty variable counts as not set. */
export function isSet(name: string, environment: NodeJS.ProcessEnv = process.env): boolean {
  return (environment[name] ?? "").trim() !== "";
}
