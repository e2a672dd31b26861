/** Which model answers: the one the environment names, else a local one, else the rule planner. */

import { HostError } from "../errors.ts";
import { rulePlanner } from "../planner/planner.ts";
import {
  type Environment,
  KEY_VARIABLES,
  type KeyedProvider,
  type LanguageProvider,
  type ModelOptions,
  type ModelSettings,
  readModelSettings,
} from "../settings.ts";
import { chatModel } from "./chat.ts";
import { findLocalModels, LOCAL_SERVERS, type LocalServer } from "./local.ts";
import type { Model } from "./model.ts";
import { PROVIDERS, type ProviderSettings } from "./providers.ts";

export interface ChooseOptions extends ModelOptions {
  /** Where to look for a local model. Default: Ollama, LM Studio and llama.cpp at their usual ports. */
  localServers?: readonly LocalServer[];
}

const DEFAULT_TEMPERATURE = 0.1;

/**
 * Chooses the model by environment and options (an option wins over its variable). Nothing is sent to a
 * provider; without a key, servers on this machine are asked for their models.
 *
 * @throws HostError `configuration` that names the variable to set
 */
export async function chooseModel(env: Environment, options: ChooseOptions = {}): Promise<Model> {
  const settings = readModelSettings(env, options);
  switch (settings.provider) {
    case "rules":
      return rulePlanner();
    case "openai":
    case "deepseek":
    case "anthropic":
    case "gemini":
      return providerModel(settings.provider, settings);
    case "ollama":
      return ollamaModel(settings);
    default:
      return localModel(settings, options.localServers ?? LOCAL_SERVERS);
  }
}

function providerModel(provider: KeyedProvider, settings: ModelSettings): Model {
  const { title, defaultModel, baseUrl } = PROVIDERS[provider];
  if (settings.key === undefined && settings.baseUrl === undefined) {
    const variable = KEY_VARIABLES[provider];
    throw new HostError("configuration", `No key for ${title}: set ${variable} or API_KEY.`, variable);
  }
  const elsewhere = settings.baseUrl !== undefined && settings.key?.variable !== KEY_VARIABLES[provider];
  if (settings.model === undefined && elsewhere && provider === "openai") {
    const message = "BASE_URL is set, but no model: set MODEL to one that its server has.";
    throw new HostError("configuration", message, "MODEL");
  }
  const model = settings.model ?? defaultModel;
  return chatModel(
    provider,
    settle(provider, settings, model, settings.baseUrl ?? baseUrl),
    settings.baseUrl === undefined ? title : `${title} (${new URL(settings.baseUrl).host})`,
  );
}

/** Ollama in its own way of speaking; without MODEL, the first model that it has. */
async function ollamaModel(settings: ModelSettings): Promise<Model> {
  const { title, baseUrl: usual } = PROVIDERS.ollama;
  const baseUrl = (settings.baseUrl ?? usual).replace(/\/(v1|api)$/, "");
  const label = settings.baseUrl === undefined ? title : `${title} (${new URL(baseUrl).host})`;
  let { model } = settings;
  if (model === undefined) {
    const [server] = await findLocalModels([{ title, baseUrl: `${baseUrl}/v1` }]);
    model = server?.models[0];
  }
  if (model === undefined) {
    const message = `MODEL_PROVIDER is ollama, but no model is named, and none is found at ${baseUrl}: start Ollama, or set MODEL.`;
    throw new HostError("configuration", message, "MODEL");
  }
  return chatModel("ollama", settle("ollama", settings, model, baseUrl), label);
}

async function localModel(settings: ModelSettings, usual: readonly LocalServer[]): Promise<Model> {
  const { baseUrl, model } = settings;
  const servers = baseUrl === undefined ? usual : [{ title: new URL(baseUrl).host, baseUrl }];
  const found = await findLocalModels(servers);
  const server = model === undefined ? found[0] : found.find(({ models }) => models.includes(model));
  if (server !== undefined) {
    const name = model ?? (server.models[0] as string);
    return chatModel("local", settle("local", settings, name, server.baseUrl), `local ${server.title}`);
  }
  if (model !== undefined) {
    const offered = found.flatMap(({ models }) => models).slice(0, 10);
    const instead =
      offered.length === 0 ? "no local model server answers" : `local servers have ${offered.join(", ")}`;
    throw new HostError("configuration", `MODEL is "${model}", but no key is set and ${instead}.`, "MODEL");
  }
  if (settings.provider === "local") {
    const asked = servers.map((each) => each.baseUrl).join(", ");
    throw new HostError(
      "configuration",
      `MODEL_PROVIDER is local, but no model server answers at ${asked}.`,
      "MODEL_PROVIDER",
    );
  }
  return rulePlanner();
}

function settle(
  provider: LanguageProvider,
  settings: ModelSettings,
  model: string,
  baseUrl: string,
): ProviderSettings {
  const usual = PROVIDERS[provider].takesTemperature(model) ? DEFAULT_TEMPERATURE : undefined;
  return { ...settings, model, baseUrl, temperature: settings.temperature ?? usual };
}
