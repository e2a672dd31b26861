/** The list: each requirement, from the files beside this one, and which sentences of the specification it stands for. */

import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";

const HERE = new URL("./", import.meta.url);

export const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const SPANS = { all: REVISIONS, legacy: REVISIONS.slice(0, -1) };

/**
 * @typedef {object} Requirement
 * @property {string} file where it stands
 * @property {string} id
 * @property {string} text what has to be, in our words
 * @property {"server" | "client" | "both" | "host"} binds
 * @property {string[]} revisions
 * @property {string[]} at places in the specification: page § section
 * @property {string[]} tests what shows it
 * @property {string | undefined} open why nothing shows it yet
 * @property {string | undefined} notOurs why it is nothing that we could show
 */

/** @returns {Requirement[]} */
export function readRequirements() {
  return readdirSync(HERE)
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file) =>
      parse(readFileSync(new URL(file, HERE), "utf8")).map(
        ({ revisions, at, test, open, "not-ours": notOurs, ...rest }) => ({
          ...rest,
          file,
          revisions: SPANS[revisions] ?? revisions,
          at: [at].flat(),
          tests: test === undefined ? [] : [test].flat(),
          open,
          notOurs,
        }),
      ),
    );
}

/** @returns {Map<string, string[]>} the ids of the requirements that a sentence became, by the sentence's hash */
export function readSentences() {
  const lines = readFileSync(new URL("sentences.txt", HERE), "utf8").trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [hash, ...ids] = line.split(" ");
      return [hash, ids];
    }),
  );
}
