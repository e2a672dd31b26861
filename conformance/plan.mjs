/** Which scenarios are run, for which role and at which revision. */

/** Authorization has a harness of its own; behind the other there is no test yet: the suite skips it, always. */
const LEFT_OUT = /^auth\/|^tasks-status-notifications$/;

const SECTIONS = { "Server scenarios": "server", "Client scenarios": "client" };

/**
 * The scenarios of each requirement set at that set's revision, then what the suite lists beyond them, each
 * once, at the revision that the suite chooses.
 *
 * @param {{ revision: string, server?: string[], client?: string[], not_scored?: { scenario: string, leg: string }[] }[]} sets
 * @param {string} listing what `conformance list` prints
 * @returns {{ role: "server" | "client", scenario: string, revision: string | undefined }[]}
 */
export function planOf(sets, listing) {
  const required = sets.flatMap(({ revision, server = [], client = [], not_scored = [] }) =>
    [
      ...server.map((scenario) => ({ role: "server", scenario, revision })),
      ...client.map((scenario) => ({ role: "client", scenario, revision })),
      ...not_scored.map(({ scenario, leg }) => ({ role: leg, scenario, revision })),
    ].sort((a, b) => b.role.localeCompare(a.role)),
  );
  const covered = new Set(required.map(nameOf));
  const others = scenariosIn(listing)
    .filter((listed) => !covered.has(nameOf(listed)))
    .map((listed) => ({ ...listed, revision: undefined }));
  return [...required, ...others].filter(({ scenario }) => !LEFT_OUT.test(scenario));
}

/** Scenarios under the headings that we know; the third, about authorization servers, is not ours. */
function scenariosIn(listing) {
  const found = [];
  let role;
  for (const line of listing.split("\n")) {
    const heading = /^(\w[\w ]*?) \(.*\):$/.exec(line)?.[1];
    if (heading !== undefined) role = SECTIONS[heading];
    const scenario = /^ {2}- (\S+)/.exec(line)?.[1];
    if (scenario !== undefined && role !== undefined) found.push({ role, scenario });
  }
  return found;
}

function nameOf({ role, scenario }) {
  return `${role} ${scenario}`;
}
