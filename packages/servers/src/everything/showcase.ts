/** Each feature once, in a form that a person can try by hand. */

import { setTimeout as delay } from "node:timers/promises";
import { LOGGING_LEVELS, ResourceNotFoundError } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { z } from "zod";

/** How many resources there are of one kind, so that lists have pages. */
export const NUMBERS = 120;

const CITIES: Record<string, readonly string[]> = {
  china: ["Beijing", "Chengdu", "Shanghai", "Shenzhen"],
  france: ["Lyon", "Marseille", "Paris"],
  japan: ["Kyoto", "Osaka", "Tokyo"],
};
const STYLES = ["formal", "friendly", "plain"];

const READS = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

/** Gives a server one of everything. */
export function addShowcase(server: McpServer): void {
  addTools(server);
  addSchemaTools(server);
  addResources(server);
  addPrompts(server);
}

function addTools(server: McpServer): void {
  server.tool(
    "echo",
    {
      title: "Echo",
      description: "Gives back its message.",
      input: z.object({ message: z.string() }),
      annotations: { ...READS, idempotentHint: true },
    },
    ({ message }) => message,
  );

  server.tool(
    "slow",
    {
      title: "Slow",
      description: "Takes its time, reports its progress, and stops when it is cancelled.",
      input: z.object({
        steps: z.int().min(1).max(1000).default(5),
        milliseconds: z.int().min(0).max(60_000).default(200).describe("For one step"),
      }),
      annotations: READS,
    },
    async ({ steps, milliseconds }, ctx) => {
      ctx.progress(0, steps, "started");
      for (let step = 1; step <= steps; step++) {
        await delay(milliseconds, undefined, { signal: ctx.signal });
        ctx.progress(step, steps, `step ${step} of ${steps}`);
      }
      return `Took ${steps} steps.`;
    },
  );

  server.tool(
    "count_words",
    {
      title: "Count words",
      description: "Counts the words, characters and lines of a text: a structured result.",
      input: z.object({ text: z.string() }),
      output: z.object({ words: z.int(), characters: z.int(), lines: z.int() }),
      annotations: { ...READS, idempotentHint: true },
    },
    ({ text }) => ({
      words: text.split(/\s+/).filter((word) => word !== "").length,
      characters: [...text].length,
      lines: text.split("\n").length,
    }),
  );

  server.tool(
    "link_numbers",
    {
      title: "Link numbers",
      description: "Gives links to resources instead of what is in them.",
      input: z.object({ count: z.int().min(1).max(NUMBERS).default(3) }),
      annotations: READS,
    },
    ({ count }) =>
      Array.from({ length: count }, (_, index) => ({
        type: "resource_link" as const,
        uri: numberUri(index + 1),
        name: `number-${index + 1}`,
        mimeType: "text/plain",
      })),
  );

  server.tool(
    "log",
    {
      title: "Log",
      description: "Sends one log message of each level; those arrive that the client asked for.",
      input: z.object({ message: z.string().default("Hello") }),
      annotations: READS,
    },
    ({ message }, ctx) => {
      for (const level of LOGGING_LEVELS) ctx.log(level, message, "showcase");
      return `Logged at ${LOGGING_LEVELS.length} levels.`;
    },
  );

  server.tool(
    "fail",
    {
      title: "Fail",
      description: "Fails with the message that it is given.",
      input: z.object({ message: z.string().min(1).default("It failed, as it was asked to.") }),
      annotations: READS,
    },
    ({ message }) => {
      throw new Error(message);
    },
  );

  server.tool(
    "who_am_i",
    {
      title: "Who am I",
      description: "Tells what the server knows of its client.",
      output: z.object({
        name: z.string().optional(),
        version: z.string().optional(),
        revision: z.string(),
        capabilities: z.array(z.string()),
      }),
      annotations: READS,
    },
    (_args, { client, revision }) => ({
      name: client.info?.name,
      version: client.info?.version,
      revision,
      capabilities: Object.keys(client.capabilities),
    }),
  );
}

function addSchemaTools(server: McpServer): void {
  server.tool(
    "every_type",
    {
      title: "Every type",
      description: "Takes an argument of each type and gives them back.",
      input: z.object({
        text: z.string(),
        number: z.number().default(1.5),
        integer: z.int().default(1),
        flag: z.boolean().default(false),
        choice: z.enum(["red", "green", "blue"]).default("red"),
        list: z.array(z.string()).max(100).default([]),
        nested: z.object({ inner: z.string() }).optional(),
        either: z.union([z.string(), z.number()]).optional(),
        nothing: z.null().optional(),
        map: z.record(z.string(), z.number()).optional(),
      }),
      annotations: { ...READS, idempotentHint: true },
    },
    (args) => JSON.stringify(args),
  );

  server.tool(
    "schema_draft_07",
    {
      title: "Schema of draft 07",
      description: "Has a schema of draft 07: a pair is written with `items` as an array.",
      input: {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        definitions: { positive: { type: "number", exclusiveMinimum: 0 } },
        properties: {
          pair: {
            type: "array",
            items: [{ type: "string" }, { $ref: "#/definitions/positive" }],
            additionalItems: false,
            minItems: 2,
          },
        },
        required: ["pair"],
      },
      annotations: READS,
    },
    ({ pair }) => JSON.stringify(pair),
  );

  server.tool(
    "schema_2020_12",
    {
      title: "Schema of 2020-12",
      description: "Has a schema of 2020-12: a pair is written with `prefixItems`.",
      input: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: { positive: { type: "number", exclusiveMinimum: 0 } },
        properties: {
          pair: {
            type: "array",
            prefixItems: [{ type: "string" }, { $ref: "#/$defs/positive" }],
            items: false,
            minItems: 2,
          },
        },
        required: ["pair"],
      },
      annotations: READS,
    },
    ({ pair }) => JSON.stringify(pair),
  );
}

function numberUri(number: number): string {
  return `everything://number/${number}`;
}

function addResources(server: McpServer): void {
  for (let number = 1; number <= NUMBERS; number++) {
    server.resource(
      numberUri(number),
      {
        name: `number-${number}`,
        title: `Number ${number}`,
        description: `What there is to say about ${number}`,
        mimeType: "text/plain",
        annotations: { audience: ["user"], priority: number / NUMBERS },
      },
      () => `${number} is ${number % 2 === 0 ? "even" : "odd"}.`,
    );
  }
  server.resourceTemplate(
    "everything://city/{country}/{city}",
    {
      name: "city",
      title: "City",
      description: "A city of a country",
      mimeType: "application/json",
      complete: {
        country: (value) => startingWith(value, Object.keys(CITIES)),
        city: (value, { country = "" }) => startingWith(value, citiesOf(country)),
      },
    },
    (uri, { country = "", city = "" }) => {
      if (!citiesOf(country).includes(city)) throw new ResourceNotFoundError(uri);
      return JSON.stringify({ country, city });
    },
  );
}

function addPrompts(server: McpServer): void {
  server.prompt(
    "rewrite",
    {
      title: "Rewrite",
      description: "Asks for a text in another style",
      arguments: [
        { name: "text", description: "The text to rewrite", required: true },
        { name: "style", description: `One of ${STYLES.join(", ")}; plain if it is left out` },
      ],
      complete: { style: (value) => startingWith(value, STYLES) },
    },
    ({ text, style = "plain" }) => `Rewrite this in a ${style} style:\n\n${text}`,
  );
  server.prompt(
    "plan_trip",
    {
      title: "Plan a trip",
      description: "Asks for a plan of a day in a city; the cities that are suggested depend on the country",
      arguments: [
        { name: "country", required: true },
        { name: "city", required: true },
      ],
      complete: {
        country: (value) => startingWith(value, Object.keys(CITIES)),
        city: (value, { country = "" }) => startingWith(value, citiesOf(country)),
      },
    },
    ({ country, city }) => [
      { role: "user", content: { type: "text", text: `I have one day in ${city}, ${country}.` } },
      { role: "assistant", content: { type: "text", text: "What do you like: food, art or walking?" } },
      { role: "user", content: { type: "text", text: "All of it. Make me a plan." } },
    ],
  );
}

function citiesOf(country: string): readonly string[] {
  return Object.hasOwn(CITIES, country) ? (CITIES[country] as readonly string[]) : [];
}

function startingWith(typed: string, words: readonly string[]): string[] {
  return words.filter((word) => word.toLowerCase().startsWith(typed.toLowerCase()));
}
