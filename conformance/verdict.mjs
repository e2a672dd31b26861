/** What the suite found in one scenario, and whether that is good enough. */

const MAX_CHARACTERS = 500;
const LAST_LINES = 5;
/** The suite adds these to every scenario: that messages fit the schema shows nothing of what it is about. */
const GENERAL = /^wire-schema-/;

/**
 * A scenario passes when each of its checks does. The suite lets a server pass with warnings (what the
 * specification says SHOULD be); we do not. Nor is it a pass when nothing could be checked.
 *
 * @param {{ checks?: { id: string, status: string, description?: string, errorMessage?: string }[], code: number, output: string }} run
 * @returns {{ checks: number, problems: string[] }} how many checks passed, and what is wrong
 */
export function verdictOf({ checks, code, output }) {
  const last = output.trim().split("\n").slice(-LAST_LINES).join("\n");
  if (checks === undefined) return { checks: 0, problems: [short(`it gave no result:\n${last}`)] };
  const passed = checks.filter(({ status }) => status === "SUCCESS");
  const problems = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING").map(told);
  if (passed.every(({ id }) => GENERAL.test(id)) && problems.length === 0) {
    const skipped = checks.filter(({ status }) => status === "SKIPPED");
    problems.push("nothing was checked", ...skipped.map(({ errorMessage }) => short(errorMessage ?? "")));
  }
  if (code !== 0 && problems.length === 0) problems.push(short(`it ended with ${code}:\n${last}`));
  return { checks: passed.length, problems: [...new Set(problems.filter(Boolean))] };
}

function told({ id, status, description, errorMessage }) {
  const level = status === "FAILURE" ? "" : ` (${status.toLowerCase()})`;
  return short(`${id}${level}: ${errorMessage ?? description ?? "no reason was given"}`);
}

function short(text) {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
