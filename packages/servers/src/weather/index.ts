/** The weather server: the weather in a city now, by Open-Meteo, which needs no key. */

import { ErrorCode, McpServer, ProtocolError } from "@patchbay/server";
import { z } from "zod";
import { conditionOf } from "./conditions.ts";
import {
  currentWeather,
  type Forecast,
  findPlace,
  fullName,
  type OpenMeteoOptions,
  type Place,
  searchPlaces,
} from "./open-meteo.ts";

export type { OpenMeteoOptions } from "./open-meteo.ts";

const INSTRUCTIONS = `get_weather tells the weather now, not a forecast and not the past.
Cities of one name are told apart by region or country: "Paris, Texas". Times are local to the city.`;

const Weather = z.object({
  city: z.string(),
  region: z.string().optional(),
  country: z.string().optional(),
  latitude: z.number(),
  longitude: z.number(),
  time: z.string().describe("Local time there, ISO 8601"),
  timezone: z.string().optional(),
  celsius: z.number(),
  apparentCelsius: z.number().optional().describe("What it feels like"),
  humidityPercent: z.number().optional(),
  windKmh: z.number().optional().describe("Wind speed 10 m above ground, km/h"),
  precipitationMm: z.number().optional().describe("In the last quarter of an hour, mm"),
  condition: z.string(),
  summary: z.string(),
});
type Weather = z.output<typeof Weather>;

/**
 * Makes the server.
 *
 * @param options base URLs (else `OPEN_METEO_URL` and `OPEN_METEO_GEOCODING_URL` of the environment, else
 * Open-Meteo's own) and limits
 * @throws Error when a base URL is none of http or https
 */
export function createWeather(options: Partial<OpenMeteoOptions> = {}): McpServer {
  const { OPEN_METEO_URL, OPEN_METEO_GEOCODING_URL } = process.env;
  const service: OpenMeteoOptions = {
    forecastUrl: baseUrl(options.forecastUrl, OPEN_METEO_URL, "https://api.open-meteo.com"),
    geocodingUrl: baseUrl(
      options.geocodingUrl,
      OPEN_METEO_GEOCODING_URL,
      "https://geocoding-api.open-meteo.com",
    ),
    timeout: options.timeout ?? 10_000,
    maxResponseBytes: options.maxResponseBytes ?? 1_000_000,
  };
  const server = new McpServer(
    {
      name: "weather",
      version: "0.1.0",
      title: "Weather",
      description: "The current weather in a city, by Open-Meteo",
      websiteUrl: "https://open-meteo.com",
    },
    { instructions: INSTRUCTIONS },
  );

  server.tool(
    "get_weather",
    {
      title: "Current weather",
      description: "Tells the current weather in a city: temperature, humidity, wind, precipitation, sky.",
      input: z.object({
        city: z
          .string()
          .trim()
          .min(1)
          .max(200)
          .describe(
            'A city, such as "Beijing"; with a region or country if there are several: "Paris, Texas"',
          ),
      }),
      output: Weather,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    async ({ city }, ctx) => {
      ctx.progress(0, 2, `looking for ${city}`);
      const place = await findPlace(city, service, ctx.signal);
      ctx.progress(1, 2, `found ${fullName(place)}`);
      const weather = describe(place, await currentWeather(place, service, ctx.signal));
      return { content: [{ type: "text", text: weather.summary }], structuredContent: weather };
    },
  );

  server.resourceTemplate(
    "weather://{city}",
    {
      name: "weather",
      title: "Current weather",
      description: "The current weather in a city, as get_weather tells it",
      mimeType: "application/json",
      complete: { city: (typed) => suggestCities(typed, service) },
    },
    async (uri, { city = "" }, ctx) => {
      try {
        const place = await findPlace(city, service, ctx.signal);
        return JSON.stringify(describe(place, await currentWeather(place, service, ctx.signal)), null, 2);
      } catch (error) {
        ctx.signal.throwIfAborted();
        // Of a tool the model reads why; of a resource only a protocol error says it.
        throw new ProtocolError(ErrorCode.InternalError, (error as Error).message, { uri });
      }
    },
  );

  return server;
}

/** Open-Meteo finds nothing by a single letter. */
const FEWEST_LETTERS = 2;

async function suggestCities(typed: string, service: OpenMeteoOptions): Promise<string[]> {
  const name = typed.trim();
  if (name.length < FEWEST_LETTERS) return [];
  const places = await searchPlaces(name, service, AbortSignal.timeout(service.timeout)).catch(() => []);
  return [...new Set(places.map(fullName))];
}

function baseUrl(option: string | undefined, environment: string | undefined, fallback: string): string {
  const url = option ?? (environment || fallback);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Error(`"${url}" is no base URL of a weather service: it must begin with http:// or https://`);
  }
  return url;
}

function describe(place: Place, { current, timezone }: Forecast): Weather {
  const condition = conditionOf(current.weather_code);
  const celsius = current.temperature_2m;
  const apparentCelsius = current.apparent_temperature ?? undefined;
  const humidityPercent = current.relative_humidity_2m ?? undefined;
  const windKmh = current.wind_speed_10m ?? undefined;
  const precipitationMm = current.precipitation ?? undefined;
  const parts = [
    `${condition}, ${celsius} °C`,
    apparentCelsius === undefined ? undefined : `feels like ${apparentCelsius} °C`,
    humidityPercent === undefined ? undefined : `humidity ${humidityPercent}%`,
    windKmh === undefined ? undefined : `wind ${windKmh} km/h`,
    precipitationMm === undefined ? undefined : `precipitation ${precipitationMm} mm`,
  ];
  return {
    city: place.name,
    region: place.admin1,
    country: place.country,
    latitude: place.latitude,
    longitude: place.longitude,
    time: current.time,
    timezone,
    celsius,
    apparentCelsius,
    humidityPercent,
    windKmh,
    precipitationMm,
    condition,
    summary: `${fullName(place)}: ${parts.filter((part) => part !== undefined).join(", ")}`,
  };
}
