/** The weather server against a service that speaks as Open-Meteo does. */

import { once } from "node:events";
import { type Client, connect } from "@patchbay/client";
import type { CallToolResult, Progress } from "@patchbay/core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createWeather } from "../src/weather/index.ts";
import {
  type Answer,
  forecastAnswer,
  type OpenMeteo,
  searchAnswer,
  sendJson,
  startOpenMeteo,
} from "./open-meteo.ts";

let service: OpenMeteo;
let client: Client;

beforeAll(async () => {
  service = await startOpenMeteo();
  client = await connect(
    createWeather({ forecastUrl: service.url, geocodingUrl: `${service.url}/`, maxResponseBytes: 10_000 }),
  );
});
afterEach(() => {
  service.asked.length = 0;
  service.answers.search = searchAnswer;
  service.answers.forecast = forecastAnswer;
  vi.unstubAllEnvs();
});
afterAll(async () => {
  await client.close();
  await service.close();
});

function textOf({ content }: CallToolResult): string {
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

async function failureOf(city = "Beijing", through = client): Promise<string> {
  const result = await through.callTool("get_weather", { city });
  expect(result.isError).toBe(true);
  return textOf(result);
}

describe("get_weather", () => {
  it("tells the weather of a city, in words and in numbers", async () => {
    const progress: Progress[] = [];
    const result = await client.callTool(
      "get_weather",
      { city: " beijing " },
      { onProgress: (each) => void progress.push(each) },
    );
    expect(result.structuredContent).toEqual({
      city: "Beijing",
      region: "Beijing",
      country: "China",
      latitude: 39.9075,
      longitude: 116.39723,
      time: "2026-07-28T14:15",
      timezone: "Asia/Shanghai",
      celsius: 31.4,
      apparentCelsius: 35.2,
      humidityPercent: 58,
      windKmh: 9.7,
      precipitationMm: 0,
      condition: "partly cloudy",
      summary:
        "Beijing, China: partly cloudy, 31.4 °C, feels like 35.2 °C, humidity 58%, wind 9.7 km/h, precipitation 0 mm",
    });
    expect(textOf(result)).toBe((result.structuredContent as { summary: string }).summary);
    expect(progress.map(({ progress, total, message }) => [progress, total, message])).toEqual([
      [0, 2, "looking for beijing"],
      [1, 2, "found Beijing, China"],
    ]);
  });

  it("asks Open-Meteo as its documentation says", async () => {
    await client.callTool("get_weather", { city: "Beijing" });
    const [search, forecast] = service.asked;
    expect(search?.pathname).toBe("/v1/search");
    expect(Object.fromEntries(search?.searchParams ?? [])).toEqual({
      name: "Beijing",
      count: "10",
      language: "en",
      format: "json",
    });
    expect(forecast?.pathname).toBe("/v1/forecast");
    expect(Object.fromEntries(forecast?.searchParams ?? [])).toEqual({
      latitude: "39.9075",
      longitude: "116.39723",
      current:
        "temperature_2m,apparent_temperature,relative_humidity_2m,wind_speed_10m,precipitation,weather_code",
      timezone: "auto",
    });
  });

  it.each([
    ["Paris", "Île-de-France"],
    ["Paris, Texas", "Texas"],
    ["paris,us", "Texas"],
    ["Paris，France", "Île-de-France"],
  ])("chooses among cities of one name: %s", async (city, region) => {
    expect(await client.callTool("get_weather", { city })).toMatchObject({ structuredContent: { region } });
  });

  it("does without what was not measured", async () => {
    service.answers.forecast = (_request, response) =>
      sendJson(response, 200, {
        current: {
          time: "2026-07-28T14:15",
          temperature_2m: -3,
          apparent_temperature: null,
          weather_code: 75,
        },
      });
    const { structuredContent } = await client.callTool("get_weather", { city: "Beijing" });
    expect(structuredContent).toMatchObject({ summary: "Beijing, China: heavy snowfall, -3 °C" });
    expect(structuredContent).not.toHaveProperty("apparentCelsius");
  });

  it("is a resource, too, whose cities are completed", async () => {
    const [found] = (await client.readResource("weather://Paris%2C%20Texas")).contents;
    expect(JSON.parse((found as { text: string }).text)).toMatchObject({
      city: "Paris",
      region: "Texas",
      celsius: 31.4,
    });
    await expect(client.readResource("weather://Atlantis")).rejects.toThrow(
      'no city named "Atlantis" was found',
    );
    const suggestions = async (value: string) =>
      (
        await client.complete({
          ref: { type: "ref/resource", uri: "weather://{city}" },
          argument: { name: "city", value },
        })
      ).completion.values;
    expect(await suggestions("paris")).toEqual([
      "Paris, Île-de-France, France",
      "Paris, Texas, United States",
    ]);
    expect(await suggestions("p")).toEqual([]);
    service.answers.search = (_request, response) => void response.destroy();
    expect(await suggestions("paris")).toEqual([]);
  });

  it("says how it is used", () => {
    expect(client.instructions).toContain("Paris, Texas");
  });

  it("takes base URLs from the environment", async () => {
    vi.stubEnv("OPEN_METEO_URL", service.url);
    vi.stubEnv("OPEN_METEO_GEOCODING_URL", service.url);
    const other = await connect(createWeather());
    expect(await other.callTool("get_weather", { city: "Beijing" })).toMatchObject({
      structuredContent: { celsius: 31.4 },
    });
    await other.close();
  });

  it("refuses base URLs of another scheme", () => {
    expect(() => createWeather({ forecastUrl: "file:///etc" })).toThrow(/must begin with http/);
  });
});

describe("what can go wrong", () => {
  it("knows no such city, and says what to try", async () => {
    expect(await failureOf("Atlantis")).toMatch(
      /^no city named "Atlantis" was found; check the spelling, try/,
    );
    expect(service.asked).toHaveLength(1);
  });

  it("knows the city, but not there", async () => {
    expect(await failureOf("Paris, Narnia")).toBe(
      'no "Paris" was found in "Narnia"; there is Paris, Île-de-France, France; Paris, Texas, United States',
    );
  });

  const refused = (status: number, body: unknown): Answer => {
    return (_request, response) => sendJson(response, status, body);
  };

  it.each([
    [
      "takes no more requests for now: Minutely API request limit exceeded. Please try again in one minute.",
      refused(429, {
        error: true,
        reason: "Minutely API request limit exceeded. Please try again in one minute.",
      }),
    ],
    ["takes no more requests for now; try again later", refused(429, "slow down")],
    [
      "refused the request (HTTP 400): Cannot initialize",
      refused(400, { error: true, reason: "Cannot initialize" }),
    ],
    ["is out of order (HTTP 502); try again later", refused(502, "<html>")],
    ["gave an answer that is not understood (current: ", refused(200, {})],
    [
      "gave an answer that is not understood (current.temperature_2m: ",
      refused(200, { current: { time: "", temperature_2m: "hot", weather_code: 0 } }),
    ],
    [
      "gave an answer that is not understood (the answer: ",
      (_request: unknown, response) => void response.end("<html>Login</html>"),
    ],
    ["sent more bytes than maxResponseBytes allows (10000)", refused(200, { padding: "x".repeat(20_000) })],
    [
      "refused the request (HTTP 302)",
      (_request: unknown, response) => void response.writeHead(302, { location: "/" }).end(),
    ],
  ] satisfies [string, Answer][])("%s", async (message, answer) => {
    service.answers.forecast = answer;
    expect(await failureOf()).toContain(`${service.host} ${message}`);
  });

  it("breaks off when the connection does", async () => {
    service.answers.search = (_request, response) => void response.destroy();
    expect(await failureOf()).toMatch(new RegExp(`^could not reach ${service.host}: `));
  });

  it("says that nothing listens", async () => {
    const gone = await startOpenMeteo();
    await gone.close();
    const other = await connect(createWeather({ forecastUrl: gone.url, geocodingUrl: gone.url }));
    expect(await failureOf("Beijing", other)).toBe(
      `could not reach ${gone.host}: ECONNREFUSED; nothing listens there`,
    );
    await other.close();
  });

  it("says that the machine seems to be offline", async () => {
    const other = await connect(createWeather({ geocodingUrl: "http://open-meteo.invalid" }));
    expect(await failureOf("Beijing", other)).toMatch(
      /^could not reach open-meteo\.invalid: (ENOTFOUND|EAI_AGAIN); this machine seems to be offline$/,
    );
    await other.close();
  });

  it("waits no longer than its timeout", async () => {
    service.answers.search = () => {};
    const other = await connect(
      createWeather({ forecastUrl: service.url, geocodingUrl: service.url, timeout: 50 }),
    );
    expect(await failureOf("Beijing", other)).toBe(`${service.host} did not answer within 50 ms (timeout)`);
    await other.close();
  });

  it("lets go of the service when the call is cancelled", async () => {
    const cancel = new AbortController();
    const closed = new Promise<void>((resolve) => {
      service.answers.forecast = (request) => {
        void once(request.socket, "close").then(() => resolve());
        cancel.abort();
      };
    });
    await expect(
      client.callTool("get_weather", { city: "Beijing" }, { signal: cancel.signal }),
    ).rejects.toThrow();
    await closed;
  });

  it("wants a city", async () => {
    expect(await failureOf("  ")).toContain("city: ");
    expect(service.asked).toHaveLength(0);
  });
});
