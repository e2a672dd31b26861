/** The servers that come with Patchbay, by name; each is loaded when it is wanted. */

import { allOf } from "./all.ts";
import type { Builtin } from "./builtin.ts";
import { code } from "./code/builtin.ts";
import { database } from "./database/builtin.ts";
import { files } from "./files/builtin.ts";
import { shell } from "./shell/builtin.ts";
import { web } from "./web/builtin.ts";

export {
  type Builtin,
  type BuiltinOperand,
  type BuiltinOption,
  type BuiltinSettings,
  NotConfiguredError,
  optionName,
  Settings,
  SettingsError,
} from "./builtin.ts";

const servers = new Map<string, Builtin>([
  [
    "calculator",
    {
      description: "Arithmetic as Python 3 does it",
      environment: [],
      load: async () => (await import("./calculator/index.ts")).createCalculator(),
    },
  ],
  [
    "weather",
    {
      description: "The current weather in a city, by Open-Meteo",
      environment: ["OPEN_METEO_URL", "OPEN_METEO_GEOCODING_URL"],
      load: async () => (await import("./weather/index.ts")).createWeather(),
    },
  ],
  ["shell", shell],
  ["code", code],
  ["files", files],
  ["database", database],
  ["web", web],
  [
    "everything",
    {
      description: "Each feature of the protocol, for tests and demonstrations",
      environment: [],
      load: async () => (await import("./everything/index.ts")).createEverything(),
    },
  ],
]);

export const builtins: ReadonlyMap<string, Builtin> = new Map([...servers, ["all", allOf(servers)]]);

export const builtinNames: readonly string[] = [...builtins.keys()];
