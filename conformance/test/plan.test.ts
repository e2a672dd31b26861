/** What is run, and when it counts as passed: read from what the suite prints and writes. */

import { describe, expect, test } from "vitest";
import { planOf } from "../plan.mjs";
import { verdictOf } from "../verdict.mjs";

const LISTING = `Server scenarios (test against a server):
  - ping [2025-06-18,2025-11-25]
  - skills [extension]
  - later [extension]
  - tasks-status-notifications [extension]

Client scenarios (test against a client):
  - ping [2026-07-28]
  - auth/dpop [extension]
  - skills-client [extension]

Authorization server scenarios (test against an authorization server):
  - metadata-endpoint [2025-11-25]
`;

test("what the sets ask for is run at their revision, then what is listed beyond them", () => {
  const sets = [
    { revision: "2025-11-25", server: ["ping"], client: ["auth/basic"] },
    {
      revision: "2026-07-28",
      server: ["ping"],
      not_scored: [
        { scenario: "ping", leg: "client" },
        { scenario: "later", leg: "server" },
      ],
    },
  ];
  expect(planOf(sets, LISTING)).toEqual([
    { role: "server", scenario: "ping", revision: "2025-11-25" },
    { role: "client", scenario: "auth/basic", revision: "2025-11-25" },
    { role: "server", scenario: "ping", revision: "2026-07-28" },
    { role: "server", scenario: "later", revision: "2026-07-28" },
    { role: "client", scenario: "ping", revision: "2026-07-28" },
    { role: "server", scenario: "ping", revision: "2025-06-18" },
    { role: "server", scenario: "skills", revision: undefined },
    { role: "client", scenario: "auth/dpop", revision: undefined },
    { role: "client", scenario: "skills-client", revision: undefined },
  ]);
});

describe("a scenario", () => {
  const check = (status: string, id = "a") => ({ id, status, errorMessage: `${id} is ${status}` });
  const verdict = (checks: ReturnType<typeof check>[] | undefined, code = 0) =>
    verdictOf({ checks, code, output: "first line\nlast line" });

  test("passes when each check does", () => {
    const checks = [check("SUCCESS"), check("SUCCESS", "b"), check("INFO"), check("SKIPPED")];
    expect(verdict(checks)).toEqual({ checks: 2, problems: [] });
  });

  test("fails by a failure or a warning, each told once", () => {
    const checks = [check("SUCCESS"), check("FAILURE"), check("FAILURE"), check("WARNING", "b")];
    expect(verdict(checks, 1)).toEqual({
      checks: 1,
      problems: ["a: a is FAILURE", "b (warning): b is WARNING"],
    });
  });

  test("fails when nothing was checked but that messages fit the schema", () => {
    const checks = [check("SKIPPED"), check("SUCCESS", "wire-schema-valid"), check("INFO")];
    expect(verdict(checks).problems).toEqual(["nothing was checked", "a is SKIPPED"]);
    expect(verdict([]).problems).toEqual(["nothing was checked"]);
  });

  test("fails when the client did, or the suite", () => {
    expect(verdict([check("SUCCESS")], 1).problems).toEqual(["it ended with 1:\nfirst line\nlast line"]);
    expect(verdict(undefined, 1).problems).toEqual(["it gave no result:\nfirst line\nlast line"]);
  });
});
