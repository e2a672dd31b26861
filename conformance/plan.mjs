/** Which scenarios are run, for which role and at which revision. */

/** There is no test behind it yet: the suite skips it, always. */
const LEFT_OUT = /^tasks-status-notifications$/;

const SECTIONS = { "Server scenarios": "server", "Client scenarios": "client" };

/**
 * The scenarios of each requirement set at that set's revision; then what the suite lists beyond them: at each
 * revision that a scenario is listed for, or once, at the revision that the suite chooses, for an extension.
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
  const covered = new Set(required.flatMap((run) => [nameOf(run), nameOf({ ...run, revision: undefined })]));
  const others = scenariosIn(listing)
    .flatMap(({ revisions, ...listed }) => revisions.map((revision) => ({ ...listed, revision })))
    .filter((run) => !covered.has(nameOf(run)));
  return [...required, ...others].filter(({ scenario }) => !LEFT_OUT.test(scenario));
}

/** Scenarios under the headings that we know; the third, about authorization servers, is not ours. */
function scenariosIn(listing) {
  const found = [];
  let role;
  for (const line of listing.split("\n")) {
    const heading = /^(\w[\w ]*?) \(.*\):$/.exec(line)?.[1];
    if (heading !== undefined) role = SECTIONS[heading];
    const [, scenario, listed = ""] = /^ {2}- (\S+)(?: \[(.*)\])?$/.exec(line) ?? [];
    if (scenario === undefined || role === undefined) continue;
    const revisions = listed.match(/\d{4}-\d\d-\d\d/g) ?? [undefined];
    found.push({ role, scenario, revisions });
  }
  return found;
}

function nameOf({ role, scenario, revision }) {
  return `${role} ${scenario} ${revision}`;
}
