/** Which model is chosen, from what is set and from what answers on this machine. */

import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import {
  chooseModel,
  createHost,
  type Environment,
  readHostSettings,
  readModelSettings,
} from "../src/index.ts";
import { serveProvider } from "./provider-wire.ts";

const CANARY = "sk-canary-4f1a9c";
const NOBODY = { localServers: [] };
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A server that answers `/v1/models`. */
async function listen(listener: RequestListener, title = "Ollama") {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { title, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

const models =
  (...ids: string[]): RequestListener =>
  (request, response) => {
    const data = ids.map((id) => ({ id, object: "model" }));
    if (request.url === "/v1/models") response.end(JSON.stringify({ object: "list", data }));
    else response.writeHead(404).end();
  };

describe("by environment", () => {
  it.each<[Environment, string]>([
    [{ OPENAI_API_KEY: "k" }, "OpenAI gpt-4.1-mini"],
    [{ DEEPSEEK_API_KEY: "k" }, "DeepSeek deepseek-chat"],
    [{ ANTHROPIC_API_KEY: "k" }, "Anthropic claude-sonnet-4-6"],
    [{ ANTHROPIC_API_KEY: "k", MODEL: "claude-opus-5" }, "Anthropic claude-opus-5"],
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", MODEL: "claude-opus-5" }, "Anthropic claude-opus-5"],
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "OpenAI gpt-4.1-mini"],
    [{ API_KEY: "k", MODEL_PROVIDER: "claude" }, "Anthropic claude-sonnet-4-6"],
    [{ API_KEY: "k", MODEL_PROVIDER: "GPT", MODEL: "o4-mini" }, "OpenAI o4-mini"],
    [{ API_KEY: "k", MODEL: "deepseek-reasoner" }, "DeepSeek deepseek-reasoner"],
    [{ API_KEY: "k", BASE_URL: "https://models.example/v1", MODEL: "qwen" }, "OpenAI (models.example) qwen"],
    [{ BASE_URL: "http://127.0.0.1:9/v1", MODEL: "qwen" }, "OpenAI (127.0.0.1:9) qwen"],
    [{ GEMINI_API_KEY: "k" }, "Gemini gemini-2.5-flash"],
    [{ GOOGLE_API_KEY: "k", MODEL: "gemini-3-pro" }, "Gemini gemini-3-pro"],
    [{ MODEL_PROVIDER: "ollama", MODEL: "qwen3" }, "Ollama qwen3"],
    [{ MODEL_PROVIDER: "ollama", OLLAMA_HOST: "0.0.0.0", MODEL: "q" }, "Ollama (127.0.0.1:11434) q"],
    [{ OPENAI_API_KEY: " ", MODEL_PROVIDER: "" }, "rule planner (not an AI model)"],
    [{}, "rule planner (not an AI model)"],
  ])("%o chooses %s", async (env, label) => {
    expect((await chooseModel(env, NOBODY)).label).toBe(label);
  });

  it("lets an option win over its variable", async () => {
    const env = { MODEL_PROVIDER: "openai", OPENAI_API_KEY: "k", MODEL: "gpt-4.1" };
    const chosen = await chooseModel(env, { provider: "claude", model: "claude-haiku-4-5", apiKey: "k" });
    expect(chosen.label).toBe("Anthropic claude-haiku-4-5");
  });

  it("takes the provider's own key before API_KEY", () => {
    const settings = readModelSettings({
      MODEL_PROVIDER: "deepseek",
      DEEPSEEK_API_KEY: "own",
      API_KEY: "any",
    });
    expect(settings.key?.variable).toBe("DEEPSEEK_API_KEY");
    expect(settings.key?.reveal()).toBe("own");
  });

  it.each<[Environment, string, string]>([
    [
      { MODEL_PROVIDER: "mistral" },
      "MODEL_PROVIDER",
      "openai (or gpt), deepseek, anthropic (or claude), gemini",
    ],
    [{ MODEL_PROVIDER: "gemini" }, "GEMINI_API_KEY", "set GEMINI_API_KEY or API_KEY"],
    [
      { MODEL_PROVIDER: "ollama", OLLAMA_HOST: "127.0.0.1:9" },
      "MODEL",
      "none is found at http://127.0.0.1:9",
    ],
    [{ OLLAMA_HOST: "a b", MODEL_PROVIDER: "ollama" }, "OLLAMA_HOST", "a host, such as 127.0.0.1:11434"],
    [{ MODEL_PROVIDER: "constructor" }, "MODEL_PROVIDER", "it takes openai"],
    [{ MODEL_PROVIDER: "openai" }, "OPENAI_API_KEY", "set OPENAI_API_KEY or API_KEY"],
    [{ API_KEY: CANARY }, "MODEL_PROVIDER", "nothing says whose it is"],
    [{ OPENAI_API_KEY: `${CANARY} x` }, "OPENAI_API_KEY", "a space or a character no key has"],
    [{ MODEL: "gpt-4.1" }, "MODEL", "no key is set and no local model server answers"],
    [{ API_KEY: CANARY, BASE_URL: "http://127.0.0.1:9/v1" }, "MODEL", "set MODEL"],
    [{ BASE_URL: "127.0.0.1:11434" }, "BASE_URL", "an http:// or https:// URL"],
    [{ BASE_URL: `http://user:${CANARY}@h/v1` }, "BASE_URL", "without them"],
    [{ MODEL_TEMPERATURE: "warm" }, "MODEL_TEMPERATURE", "a number from 0 to 2"],
    [{ MODEL_TEMPERATURE: "3" }, "MODEL_TEMPERATURE", "a number from 0 to 2"],
    [{ MAX_TOKENS: "0.5" }, "MAX_TOKENS", "a whole number from 1"],
    [{ MODEL_TIMEOUT_MS: "0" }, "MODEL_TIMEOUT_MS", "a whole number from 1"],
    [{ MODEL_MAX_RETRIES: "-1" }, "MODEL_MAX_RETRIES", "a whole number from 0 to 10"],
    [{ MODEL_PROVIDER: "local" }, "MODEL_PROVIDER", "no model server answers"],
  ])("%o is an error that names %s", async (env, variable, text) => {
    const error = await chooseModel(env, NOBODY).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "configuration", variable });
    expect(error.message).toContain(variable);
    expect(error.message).toContain(text);
    expect(inspect(error)).not.toContain(CANARY);
  });

  it("gives a file's BASE_URL no key from elsewhere", async () => {
    const base = { BASE_URL: "http://elsewhere.example/v1", MODEL: "m" };
    for (const variable of ["OPENAI_API_KEY", "API_KEY"]) {
      const env = { ...base, [variable]: CANARY };
      const error = await chooseModel(env, { fromFile: new Set(["BASE_URL"]) }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "configuration", variable: "BASE_URL" });
      expect(error.message).toMatch(
        new RegExp(`BASE_URL comes from \\.env, and ${variable} does not.*both into`),
      );
      for (const fromFile of [new Set<string>(), new Set([variable]), new Set(["BASE_URL", variable])]) {
        expect((await chooseModel(env, { fromFile })).provider).toBe("openai");
      }
    }
    const given = { apiKey: CANARY, fromFile: new Set(["BASE_URL", "API_KEY"]) };
    await expect(chooseModel({ ...base, API_KEY: "k" }, given)).rejects.toThrow(/BASE_URL comes from/);
  });

  it("reads the host's own settings", () => {
    expect(readHostSettings({ SYSTEM_PROMPT: "Be brief.", MCP_TOOL_TIMEOUT_MS: "5000" })).toEqual({
      systemPrompt: "Be brief.",
      toolTimeout: 5000,
    });
    expect(() => readHostSettings({ MCP_TOOL_TIMEOUT_MS: "soon" })).toThrow(/MCP_TOOL_TIMEOUT_MS is "soon"/);
  });

  it("shows no key to whoever prints the settings or the model", async () => {
    const env = { OPENAI_API_KEY: CANARY };
    const shown = [readModelSettings(env), await chooseModel(env)].map(
      (each) => inspect(each, { depth: 9 }) + JSON.stringify(each),
    );
    expect(shown.join()).not.toContain(CANARY);
  });

  it.each([
    ["o4-mini", {}, undefined],
    ["gpt-5", {}, undefined],
    ["gpt-4.1", {}, 0.1],
    ["gpt-5", { MODEL_TEMPERATURE: "1" }, 1],
  ])("sends %s with %o the temperature %s", async (model, env, temperature) => {
    const wire = await serveProvider("openai", [{ text: "Hi." }]);
    open.push(wire);
    const chosen = await chooseModel({ OPENAI_API_KEY: "k", MODEL: model, BASE_URL: wire.baseUrl, ...env });
    await createHost({ clients: {}, model: chosen }).ask("Hello");
    expect(wire.requests[0]?.body.temperature).toBe(temperature);
  });
});

describe("on this machine", () => {
  it("uses the first chat model of a server that answers as one", async () => {
    const localServers = [await listen(models("nomic-embed-text", "qwen3:8b", "llama3.2"))];
    expect((await chooseModel({}, { localServers })).label).toBe("local Ollama qwen3:8b");
    expect((await chooseModel({ MODEL: "llama3.2" }, { localServers })).label).toBe("local Ollama llama3.2");
  });

  it("keeps the order of preference, whoever answers first", async () => {
    const localServers = [await listen(models("a"), "Ollama"), await listen(models("b"), "LM Studio")];
    expect((await chooseModel({}, { localServers })).label).toBe("local Ollama a");
  });

  it("holds a conversation with it, and sends it no key", async () => {
    const wire = await serveProvider("openai", [{ text: "Hello from here." }]);
    open.push(wire);
    const localServers = [{ title: "Ollama", baseUrl: wire.baseUrl }];
    const model = await chooseModel({}, { localServers });
    expect(model.label).toBe("local Ollama tiny");
    expect(await createHost({ clients: {}, model }).ask("Hello")).toMatchObject({ text: "Hello from here." });
    expect(wire.requests[0]?.headers.authorization).toBe("Bearer none");
  });

  it("names what the local servers have when MODEL is none of it", async () => {
    const localServers = [await listen(models("qwen3:8b"))];
    await expect(chooseModel({ MODEL: "gpt-4.1" }, { localServers })).rejects.toThrow(
      "local servers have qwen3:8b",
    );
  });

  it.each<[string, RequestListener]>([
    ["another program", (_, response) => response.end("<html>Jenkins</html>")],
    ["JSON of another shape", (_, response) => response.end(JSON.stringify({ models: ["x"] }))],
    ["no models", (_, response) => response.end(JSON.stringify({ object: "list", data: null }))],
    ["only models that do not chat", models("nomic-embed-text", "bge-m3")],
    ["names with control characters", models("\u001b[31mred")],
    [
      "a refusal",
      (_, response) => response.writeHead(401).end(JSON.stringify({ object: "list", data: [{ id: "x" }] })),
    ],
    ["a redirect", (_, response) => response.writeHead(302, { location: "http://127.0.0.1:9/" }).end()],
    ["an endless answer", (_, response) => void response.write(" ".repeat(2 * 1024 * 1024))],
    ["silence", () => {}],
  ])("falls back to the rule planner on %s", async (_, listener) => {
    const localServers = [await listen(listener)];
    expect((await chooseModel({}, { localServers })).provider).toBe("rules");
  });
});
