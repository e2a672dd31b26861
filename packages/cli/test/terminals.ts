/** Terminals, and models of a script, for the tests of one file; each is closed after its test. */

import { afterEach } from "vitest";
import { type ProviderWire, type Reply, serveProvider } from "../../host/test/provider-wire.ts";
import { Terminal, type TerminalOptions } from "./terminal.ts";
import { type Workplace, workplace } from "./workplace.ts";

export interface Terminals {
  place: Workplace;
  start(words: string[], options?: Partial<TerminalOptions>): Promise<Terminal>;
  /** `patchbay chat`, at its first prompt. */
  chat(words?: string[], options?: Partial<TerminalOptions>): Promise<Terminal>;
  /** A model that says this, and the variables that choose it. */
  model(...script: Reply[]): Promise<Scripted>;
  modelOf(provider: "openai" | "anthropic", ...script: Reply[]): Promise<Scripted>;
}

export interface Scripted {
  wire: ProviderWire;
  env: Record<string, string>;
}

export function terminals(): Terminals {
  const place = workplace();
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });

  async function start(words: string[], options: Partial<TerminalOptions> = {}): Promise<Terminal> {
    const terminal = await Terminal.open(words, { cwd: place.cwd, ...options });
    open.push(terminal);
    return terminal;
  }

  async function modelOf(provider: "openai" | "anthropic", ...script: Reply[]): Promise<Scripted> {
    const wire = await serveProvider(provider, script);
    open.push(wire);
    const env = { MODEL_PROVIDER: provider, MODEL: "tiny", API_KEY: "key", BASE_URL: wire.baseUrl };
    return { wire, env };
  }

  return {
    place,
    start,
    modelOf,
    model: (...script) => modelOf("openai", ...script),
    async chat(words = [], options = {}) {
      const terminal = await start(["chat", ...words], options);
      await terminal.ready();
      return terminal;
    },
  };
}
