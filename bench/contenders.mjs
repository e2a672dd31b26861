/** The contenders of one scenario while it is measured: what goes wrong with one becomes its row, and the others go on. */

import { ContenderError } from "./closed-loop.mjs";

const OPEN_MS = 60_000;

/**
 * @typedef {object} Contender
 * @property {string} name what `--only` takes; a contender of the same library starts with the same word
 * @property {string} title
 * @property {string} [revision] the newest that it speaks of the era it is asked in
 * @property {string[]} [serve] its server: a file here, and arguments
 * @property {string} [eval] code that is run instead
 * @property {Record<string, string>} [headers] what each request of HTTP has besides
 * @property {import("./messages.mjs").Call} [call] what is called, where each names it otherwise
 * @property {string} [workload] the tools that it has, if not `echo` alone
 * @property {"server" | "load" | "both"} [core] where its server runs, if not on the core of the server
 * @property {() => Promise<{ url: string, end: () => Promise<void> }>} [store] starts what its server keeps sessions in
 * @property {number} [workers] its server is of so many processes
 * @property {number} [sessions] as many as it can be asked to hold, where that is fewer
 * @property {boolean} [bare] nothing of MCP, and no handshake
 * @property {boolean} [floor] what the others are compared with
 * @property {boolean} [ours]
 * @property {string} [cannot] why it is not in this scenario
 * @property {() => string | undefined} [lacks] what this machine does not have that it needs
 */

/** @typedef {{ contender: Contender, samples: any[], missing?: string, opened?: any }} Entry */

/** @param {Contender[]} contenders @returns {Entry[]} */
export function entriesOf(contenders) {
  return contenders.map((contender) => ({
    contender,
    samples: [],
    missing: contender.cannot ?? contender.lacks?.(),
  }));
}

/** Does something with a contender, unless it has failed before. @param {Entry} entry */
export async function attempt(entry, action) {
  if (entry.missing !== undefined) return;
  try {
    await action();
  } catch (error) {
    entry.missing = error instanceof ContenderError ? error.message : String(error?.stack ?? error);
  }
}

/** A promise, or a ContenderError when it takes too long. */
export async function ready(promise, what = "ready") {
  let timer;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new ContenderError(`not ${what} within ${OPEN_MS / 1000} s`)), OPEN_MS);
  });
  return Promise.race([promise, tooLate]).finally(() => clearTimeout(timer));
}

/** The rounds of a measurement: every other one goes the other way round, so that a drift of the machine cancels out. */
export function* interleaved(entries, rounds) {
  for (let round = 1; round <= rounds; round++) {
    const order = round % 2 ? entries : entries.toReversed();
    for (const entry of order) if (entry.missing === undefined) yield { entry, round };
  }
}

/** What every table says of a contender. @param {Entry} entry */
export function rowOf({ contender, missing }) {
  const { name, title, revision, bare, ours = false } = contender;
  return { name, title, revision: bare ? undefined : revision, ours, missing };
}
