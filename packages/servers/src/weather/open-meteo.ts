/** Open-Meteo, the free weather service: places by name, and their weather now (open-meteo.com/en/docs). */

import { z } from "zod";
import { type FetchLimits, fetchJson } from "../fetch-json.ts";

export interface OpenMeteoOptions extends FetchLimits {
  /** Default `https://api.open-meteo.com`. */
  forecastUrl: string;
  /** Default `https://geocoding-api.open-meteo.com`. */
  geocodingUrl: string;
}

const Place = z.object({
  name: z.string(),
  latitude: z.number(),
  longitude: z.number(),
  country: z.string().optional(),
  country_code: z.string().optional(),
  admin1: z.string().optional(),
  admin2: z.string().optional(),
});
export type Place = z.output<typeof Place>;

/** `results` is missing where nothing was found. */
const Places = z.object({ results: z.array(Place).default([]) });

const measured = z.number().nullish();
const Forecast = z.object({
  timezone: z.string().optional(),
  current: z.object({
    /** Local time of the place: `2026-07-28T14:15`. */
    time: z.string(),
    temperature_2m: z.number(),
    apparent_temperature: measured,
    relative_humidity_2m: measured,
    wind_speed_10m: measured,
    precipitation: measured,
    weather_code: z.number(),
  }),
});
export type Forecast = z.output<typeof Forecast>;

/** How Open-Meteo says no. */
const Refusal = z.object({ error: z.literal(true), reason: z.string() });
const reasonIn = (refusal: unknown) => Refusal.safeParse(refusal).data?.reason;

const CURRENT = Object.keys(Forecast.shape.current.shape).filter((name) => name !== "time");
const MAX_PLACES = 10;

/** The places that have a name, or begin with it; the largest first. */
export async function searchPlaces(
  name: string,
  options: OpenMeteoOptions,
  signal: AbortSignal,
): Promise<Place[]> {
  const url = endpoint(options.geocodingUrl, "/v1/search", {
    name,
    count: String(MAX_PLACES),
    language: "en",
    format: "json",
  });
  return (await fetchJson(url, Places, options, signal, { reasonIn })).results;
}

/**
 * Finds a place: a name, and after commas what tells it from others of that name ("Paris, Texas").
 *
 * @throws Error that says what to try when there is none
 */
export async function findPlace(
  city: string,
  options: OpenMeteoOptions,
  signal: AbortSignal,
): Promise<Place> {
  const [name = "", ...region] = city.split(/[,，]/).map((part) => part.trim());
  const wanted = region.filter((part) => part !== "");
  const results = await searchPlaces(name, options, signal);
  const place = results.find((result) => wanted.every((part) => isIn(result, part)));
  if (place !== undefined) return place;
  if (results.length > 0) {
    const others = results.slice(0, 5).map(fullName).join("; ");
    throw new Error(`no "${name}" was found in "${wanted.join(", ")}"; there is ${others}`);
  }
  throw new Error(
    `no city named "${name}" was found; check the spelling, try its English name, or name a larger city nearby`,
  );
}

function isIn(place: Place, region: string): boolean {
  const { country, country_code, admin1, admin2 } = place;
  return [country, country_code, admin1, admin2].some((name) => name?.toLowerCase() === region.toLowerCase());
}

/** `Paris, Texas, United States`. */
export function fullName({ name, admin1, country }: Place): string {
  return [name, admin1 === name ? undefined : admin1, country]
    .filter((part) => part !== undefined)
    .join(", ");
}

/** The weather at a place now: °C, %, km/h, mm. */
export function currentWeather(
  place: Place,
  options: OpenMeteoOptions,
  signal: AbortSignal,
): Promise<Forecast> {
  const url = endpoint(options.forecastUrl, "/v1/forecast", {
    latitude: String(place.latitude),
    longitude: String(place.longitude),
    current: CURRENT.join(","),
    timezone: "auto",
  });
  return fetchJson(url, Forecast, options, signal, { reasonIn });
}

function endpoint(base: string, path: string, query: Record<string, string>): URL {
  const url = new URL(base.replace(/\/+$/, "") + path);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}
