/**
 * The tools that a server here has, for each workload: the same ones for every library, which is given them in its own
 * words. `BENCH_WORKLOAD` names it: `echo`, `100-tools`, `1000-tools`, `progress`, or `large`.
 */

import { z } from "zod";

const workload = process.env.BENCH_WORKLOAD ?? "echo";

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {Record<string, import("zod").ZodType>} shape what it takes
 * @property {(args: any) => string} run its text
 * @property {boolean} [reports] tells once how far it is before it answers
 */

/** @type {Tool} */
const echo = {
  name: "echo",
  description: "Says it back",
  shape: { text: z.string() },
  run: ({ text }) => text,
};

/** @returns {Tool} one of many: of a usual size, and with a schema of its own */
function filler(number) {
  return {
    name: `search_collection_${String(number).padStart(4, "0")}`,
    description: `Searches collection ${number} for records that match, newest first. Gives their titles.`,
    shape: {
      query: z.string().describe("What to look for"),
      limit: z.number().int().min(1).max(100).optional().describe("How many to give at most"),
      order: z.enum(["newest", "oldest", "relevance"]).optional().describe("Which come first"),
    },
    run: ({ query }) => query,
  };
}

/** `echo` in the middle of so many. */
function among(count) {
  const tools = Array.from({ length: count - 1 }, (_, index) => filler(index));
  tools.splice(count >> 1, 0, echo);
  return tools;
}

/** Text to send and to get: how long it is, is asked for in bytes. @type {Tool[]} */
const large = [
  {
    name: "give",
    description: "Gives a text of so many bytes",
    shape: { bytes: z.number().int() },
    run: ({ bytes }) => "x".repeat(bytes),
  },
  {
    name: "take",
    description: "Takes a text, and says how long it is",
    shape: { text: z.string() },
    run: ({ text }) => String(text.length),
  },
];

const WORKLOADS = {
  echo: () => [echo],
  "100-tools": () => among(100),
  "1000-tools": () => among(1000),
  progress: () => [{ ...echo, reports: true }],
  large: () => large,
};

/** What a tool that reports tells before it answers. */
export const PROGRESS = { progress: 1, total: 2, message: "half" };

/** What is raised for messages of 10 MiB. */
export const limits = workload === "large" ? { maxMessageBytes: 64 * 1024 * 1024 } : {};

/** @type {readonly Tool[]} */
export const tools = WORKLOADS[workload]();
