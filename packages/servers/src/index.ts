/** The servers that come with Patchbay, by name; each is loaded when it is wanted. */

import type { McpServer } from "@patchbay/server";

/** A server that comes with Patchbay. */
export interface Builtin {
  /** What it offers, in one line. */
  description: string;
  /** Loads its code and makes one, with its default options. */
  load(): Promise<McpServer>;
}

export const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  [
    "calculator",
    {
      description: "Arithmetic as Python 3 does it",
      load: async () => (await import("./calculator/index.ts")).createCalculator(),
    },
  ],
  [
    "weather",
    {
      description: "The current weather in a city, by Open-Meteo",
      load: async () => (await import("./weather/index.ts")).createWeather(),
    },
  ],
  [
    "everything",
    {
      description: "Each feature of the protocol, for tests and demonstrations",
      load: async () => (await import("./everything/index.ts")).createEverything(),
    },
  ],
]);

export const builtinNames: readonly string[] = [...builtins.keys()];
