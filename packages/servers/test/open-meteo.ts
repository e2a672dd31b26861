/** A server on loopback that speaks as Open-Meteo does (open-meteo.com/en/docs, /en/docs/geocoding-api). */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface OpenMeteo {
  url: string;
  host: string;
  /** What was asked for, in order. */
  asked: URL[];
  /** How each path is answered from now on. */
  answers: { search: Answer; forecast: Answer };
  close(): Promise<void>;
}

export async function startOpenMeteo(): Promise<OpenMeteo> {
  const asked: URL[] = [];
  const answers = { search: searchAnswer, forecast: forecastAnswer };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://open-meteo.test");
    asked.push(url);
    if (url.pathname === "/v1/search") answers.search(request, response);
    else if (url.pathname === "/v1/forecast") answers.forecast(request, response);
    else sendJson(response, 404, { error: true, reason: "Not Found" });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    asked,
    answers,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8" });
  response.end(JSON.stringify(body));
}

const PLACES = [
  {
    id: 1816670,
    name: "Beijing",
    latitude: 39.9075,
    longitude: 116.39723,
    elevation: 49,
    feature_code: "PPLC",
    country_code: "CN",
    admin1_id: 2038349,
    timezone: "Asia/Shanghai",
    population: 18960744,
    country_id: 1814991,
    country: "China",
    admin1: "Beijing",
  },
  {
    id: 2988507,
    name: "Paris",
    latitude: 48.85341,
    longitude: 2.3488,
    country_code: "FR",
    timezone: "Europe/Paris",
    country: "France",
    admin1: "Île-de-France",
    admin2: "Paris",
  },
  {
    id: 4717560,
    name: "Paris",
    latitude: 33.66094,
    longitude: -95.55551,
    country_code: "US",
    timezone: "America/Chicago",
    country: "United States",
    admin1: "Texas",
    admin2: "Lamar",
  },
];

export const searchAnswer: Answer = (request, response) => {
  const wanted = new URL(request.url ?? "/", "http://open-meteo.test").searchParams.get("name");
  const results = PLACES.filter(({ name }) => name.toLowerCase() === wanted?.toLowerCase());
  // With nothing found there is no `results` at all.
  sendJson(response, 200, { ...(results.length > 0 && { results }), generationtime_ms: 0.55 });
};

export const forecastAnswer: Answer = (_request, response) => {
  sendJson(response, 200, {
    latitude: 39.875,
    longitude: 116.375,
    generationtime_ms: 0.06,
    utc_offset_seconds: 28800,
    timezone: "Asia/Shanghai",
    timezone_abbreviation: "GMT+8",
    elevation: 47,
    current_units: {
      time: "iso8601",
      interval: "seconds",
      temperature_2m: "°C",
      apparent_temperature: "°C",
      relative_humidity_2m: "%",
      wind_speed_10m: "km/h",
      precipitation: "mm",
      weather_code: "wmo code",
    },
    current: {
      time: "2026-07-28T14:15",
      interval: 900,
      temperature_2m: 31.4,
      apparent_temperature: 35.2,
      relative_humidity_2m: 58,
      wind_speed_10m: 9.7,
      precipitation: 0,
      weather_code: 2,
    },
  });
};
