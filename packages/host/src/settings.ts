/** The environment's settings, checked: a wrong value is an error that names its variable. */

import { HostError } from "./errors.ts";

/** Environment variables; an empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The providers a key is for. */
export type KeyedProvider = "openai" | "deepseek" | "anthropic" | "gemini";
/** `ollama` is spoken to in its own way; `local` is an OpenAI-compatible server on this machine. */
export type LanguageProvider = KeyedProvider | "ollama" | "local";
/** `rules` is the rule planner. */
export type ProviderName = LanguageProvider | "rules";

/** What may be set in code or by flags; each wins over its environment variable. */
export interface ModelOptions {
  /** MODEL_PROVIDER: `openai` or `gpt`, `deepseek`, `anthropic` or `claude`, `gemini` or `google`, `ollama`, `local`, `rules`. */
  provider?: string;
  /** MODEL. */
  model?: string;
  /** API_KEY, or the provider's own variable. */
  apiKey?: string;
  /** BASE_URL; OLLAMA_HOST for `ollama`. */
  baseUrl?: string;
  /** MODEL_TEMPERATURE, 0 to 2. Default 0.1, for models that take one. */
  temperature?: number;
  /** MAX_TOKENS of one reply. Default: the provider's. */
  maxTokens?: number;
  /** MODEL_TIMEOUT_MS: milliseconds without a sign of life from the model. Default 60,000. */
  timeoutMs?: number;
  /** MODEL_MAX_RETRIES after an overload or a lost connection. Default 2. */
  maxRetries?: number;
  /** False: take the reply in one piece. Default true. */
  stream?: boolean;
  /**
   * The variables that a file of the working directory set, not the user. A BASE_URL among them is given
   * no key from elsewhere: whoever wrote the file would have it.
   */
  fromFile?: ReadonlySet<string>;
}

export interface ModelSettings {
  /** `undefined`: nothing names a provider, so a local server or the rule planner. */
  provider: ProviderName | undefined;
  model: string | undefined;
  key: Secret | undefined;
  baseUrl: string | undefined;
  temperature: number | undefined;
  maxTokens: number | undefined;
  timeoutMs: number;
  maxRetries: number;
  stream: boolean;
}

/** What the environment says about the host itself. */
export interface HostSettings {
  /** SYSTEM_PROMPT. */
  systemPrompt?: string;
  /** MCP_TOOL_TIMEOUT_MS, in milliseconds. */
  toolTimeout?: number;
}

/** A key. It knows where it came from and shows itself to nobody who prints it. */
export class Secret {
  readonly variable: string;
  readonly #value: string;

  constructor(variable: string, value: string) {
    this.variable = variable;
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return `[${this.variable}]`;
  }

  toJSON(): string {
    return this.toString();
  }
}

export const KEY_VARIABLES: Record<KeyedProvider, string> = {
  openai: "OPENAI_API_KEY",
  deepseek: "DEEPSEEK_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  gemini: "GEMINI_API_KEY",
};

/** Where a provider's key may be, the first that is set. */
function keyVariables(provider: ProviderName): string[] {
  switch (provider) {
    case "local":
    case "rules":
      return ["API_KEY"];
    case "ollama":
      return ["OLLAMA_API_KEY", "API_KEY"];
    case "gemini":
      return [KEY_VARIABLES.gemini, "GOOGLE_API_KEY", "API_KEY"];
    default:
      return [KEY_VARIABLES[provider], "API_KEY"];
  }
}

const PROVIDERS: Record<string, ProviderName> = {
  openai: "openai",
  gpt: "openai",
  deepseek: "deepseek",
  anthropic: "anthropic",
  claude: "anthropic",
  gemini: "gemini",
  google: "gemini",
  ollama: "ollama",
  local: "local",
  rules: "rules",
};

const FAMILIES: [RegExp, KeyedProvider][] = [
  [/^(gpt-|chatgpt-|o\d)/i, "openai"],
  [/^deepseek-/i, "deepseek"],
  [/^claude-/i, "anthropic"],
  [/^gemini-/i, "gemini"],
];

const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1000;

/**
 * Reads which model to use. The provider is the one named, else the one whose model MODEL names and whose
 * key is set, else the first whose own key is set (OpenAI, DeepSeek, Anthropic, Gemini), else whoever answers at
 * BASE_URL.
 *
 * @throws HostError `configuration` that names the variable and what it takes
 */
export function readModelSettings(env: Environment, options: ModelOptions = {}): ModelSettings {
  const model = options.model ?? text(env, "MODEL");
  const given = readBaseUrl(options.baseUrl ?? text(env, "BASE_URL"));
  const provider = readProvider(env, options, model, given);
  const key = provider === undefined || provider === "rules" ? undefined : readKey(env, options, provider);
  const ollama = given === undefined && provider === "ollama" ? readOllamaHost(env) : undefined;
  const baseUrl = given ?? ollama;
  const variable = ollama === undefined ? "BASE_URL" : "OLLAMA_HOST";
  if (key !== undefined && baseUrl !== undefined) checkOrigin(key, options, variable);
  return {
    provider,
    model,
    key,
    baseUrl,
    temperature: number(env, "MODEL_TEMPERATURE", options.temperature, { min: 0, max: 2 }),
    maxTokens: number(env, "MAX_TOKENS", options.maxTokens, { min: 1, max: 10_000_000, whole: true }),
    timeoutMs:
      number(env, "MODEL_TIMEOUT_MS", options.timeoutMs, { min: 1, max: MAX_TIMEOUT_MS, whole: true }) ??
      60_000,
    maxRetries: number(env, "MODEL_MAX_RETRIES", options.maxRetries, { min: 0, max: 10, whole: true }) ?? 2,
    stream: options.stream ?? true,
  };
}

/**
 * Reads what `createHost` takes from the environment.
 *
 * @throws HostError `configuration` that names the variable and what it takes
 */
export function readHostSettings(env: Environment): HostSettings {
  const settings: HostSettings = {};
  const systemPrompt = text(env, "SYSTEM_PROMPT");
  if (systemPrompt !== undefined) settings.systemPrompt = systemPrompt;
  const bounds = { min: 1, max: MAX_TIMEOUT_MS, whole: true };
  const toolTimeout = number(env, "MCP_TOOL_TIMEOUT_MS", undefined, bounds);
  if (toolTimeout !== undefined) settings.toolTimeout = toolTimeout;
  return settings;
}

function readProvider(
  env: Environment,
  options: ModelOptions,
  model: string | undefined,
  baseUrl: string | undefined,
): ProviderName | undefined {
  const named = options.provider ?? text(env, "MODEL_PROVIDER");
  if (named !== undefined) {
    const provider = Object.hasOwn(PROVIDERS, named.toLowerCase()) && PROVIDERS[named.toLowerCase()];
    if (provider) return provider;
    throw wrong(
      "MODEL_PROVIDER",
      `is "${named}"`,
      "openai (or gpt), deepseek, anthropic (or claude), gemini (or google), ollama, local, rules",
    );
  }
  const family = FAMILIES.find(([names]) => model !== undefined && names.test(model))?.[1];
  const anyKey = options.apiKey ?? text(env, "API_KEY");
  const holders = (Object.keys(KEY_VARIABLES) as KeyedProvider[]).filter((provider) =>
    keyVariables(provider).some((variable) => variable !== "API_KEY" && text(env, variable) !== undefined),
  );
  if (family !== undefined && (anyKey !== undefined || holders.includes(family))) return family;
  if (holders[0] !== undefined && family === undefined) return holders[0];
  // BASE_URL says who gets the key; OpenAI's protocol is what others speak.
  if (baseUrl !== undefined) return "openai";
  if (anyKey !== undefined) {
    throw new HostError(
      "configuration",
      "API_KEY is set, but nothing says whose it is: set MODEL_PROVIDER to openai, deepseek, anthropic or gemini.",
      "MODEL_PROVIDER",
    );
  }
  return undefined;
}

function readKey(env: Environment, options: ModelOptions, provider: ProviderName): Secret | undefined {
  if (options.apiKey !== undefined) return new Secret("API_KEY", options.apiKey);
  for (const variable of keyVariables(provider)) {
    const value = text(env, variable);
    if (value === undefined) continue;
    if (/[^\x21-\x7e]/.test(value))
      throw wrong(variable, "holds a space or a character no key has", "the key alone");
    return new Secret(variable, value);
  }
  return undefined;
}

/** A key goes where its owner said, or where the file that holds it says. */
function checkOrigin(key: Secret, { apiKey, baseUrl, fromFile }: ModelOptions, origin: string): void {
  if (baseUrl !== undefined || !fromFile?.has(origin)) return;
  if (apiKey === undefined && fromFile.has(key.variable)) return;
  throw new HostError(
    "configuration",
    `${origin} comes from .env, and ${key.variable} does not: the key would go where that file says. ` +
      "Put both into .env, or both into the environment.",
    origin,
  );
}

function readBaseUrl(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse?.(value) ?? (URL.canParse(value) ? new URL(value) : null);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw wrong(
      "BASE_URL",
      "is not a web address",
      "an http:// or https:// URL, such as http://127.0.0.1:11434/v1",
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw wrong("BASE_URL", "holds a user name or password", "a URL without them; the key goes in API_KEY");
  }
  return value.replace(/\/+$/, "");
}

/** Ollama's own variable: a host, with or without a scheme and a port; where it listens on all addresses, this machine. */
function readOllamaHost(env: Environment): string | undefined {
  const value = text(env, "OLLAMA_HOST");
  if (value === undefined) return undefined;
  const url = /^https?:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(url)) throw wrong("OLLAMA_HOST", "is not an address", "a host, such as 127.0.0.1:11434");
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = /^(0\.0\.0\.0|\[::\])$/.test(hostname) ? "127.0.0.1" : hostname;
  const usual = url === value ? "" : ":11434";
  return `${protocol}//${host}${port === "" ? usual : `:${port}`}${pathname.replace(/\/+$/, "")}`;
}

function text(env: Environment, variable: string): string | undefined {
  const value = env[variable]?.trim();
  return value === "" ? undefined : value;
}

function number(
  env: Environment,
  variable: string,
  given: number | undefined,
  { min, max, whole = false }: { min: number; max: number; whole?: boolean },
): number | undefined {
  const written = given ?? text(env, variable);
  if (written === undefined) return undefined;
  const value = Number(written);
  if (Number.isFinite(value) && value >= min && value <= max && (!whole || Number.isInteger(value)))
    return value;
  throw wrong(variable, `is "${written}"`, `${whole ? "a whole number" : "a number"} from ${min} to ${max}`);
}

function wrong(variable: string, what: string, takes: string): HostError {
  return new HostError("configuration", `${variable} ${what}; it takes ${takes}.`, variable);
}
