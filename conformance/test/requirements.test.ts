/** The list of requirements, both ways: what it names exists, and each sentence of the specification is in it. */

import { existsSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "oxc-parser";
import { describe, expect, test } from "vitest";
import { REVISIONS, readRequirements, readSentences } from "../requirements/list.mjs";

const ROOT = new URL("../../", import.meta.url);
const SUITE = new URL("../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url);

const requirements = readRequirements();

describe("each requirement", () => {
  test("has an id of its own", () => {
    const ids = requirements.map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z-]+\/[a-z0-9-]+$/.test(id))).toEqual([]);
  });

  test("says what, who, since when and where", () => {
    const wrong = requirements.filter(
      ({ text, binds, revisions, at }) =>
        !/\.$/.test(text) ||
        !["server", "client", "both", "host"].includes(binds) ||
        !Array.isArray(revisions) ||
        revisions.length === 0 ||
        !revisions.every((revision) => REVISIONS.includes(revision)) ||
        !at.every((place) => /^[a-z/-]+( § .+)?$/.test(place)),
    );
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  test("is shown, or says why not", () => {
    const wrong = requirements.filter(({ tests, open, notOurs }) => {
      const said = [tests.length > 0, open !== undefined, notOurs !== undefined];
      return said.filter(Boolean).length !== 1;
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  test("is one that the specification states", () => {
    const stated = new Set([...readSentences().values()].flat());
    expect(requirements.map(({ id }) => id).filter((id) => !stated.has(id))).toEqual([]);
  });
});

test("each sentence of the specification became a requirement", () => {
  const ids = new Set(requirements.map(({ id }) => id));
  const sentences = readSentences();
  expect(
    [...sentences].filter(([, named]) => named.length === 0 || !named.every((id) => ids.has(id))),
  ).toEqual([]);
});

test("each test that is named exists", () => {
  const titles = new Map<string, Set<string>>();
  const missing = requirements.flatMap(({ id, tests }) =>
    tests
      .filter((named) => !named.startsWith("conformance:"))
      .filter((named) => {
        const [file = "", ...title] = named.split(" > ");
        if (!titles.has(file)) titles.set(file, titlesIn(file));
        return !titles.get(file)?.has(title.join(" > "));
      })
      .map((named) => `${id}: ${named}`),
  );
  expect(missing).toEqual([]);
});

test.skipIf(!existsSync(SUITE))("each scenario that is named exists", () => {
  const suite = readFileSync(SUITE, "utf8");
  const named = requirements.flatMap(({ tests }) => tests.filter((each) => each.startsWith("conformance:")));
  const missing = named.filter((each) => {
    const scenario = each.slice("conformance:".length);
    return !["`", '"'].some((quote) => suite.includes(`${quote}${scenario}${quote}`));
  });
  expect(missing).toEqual([]);
});

test("so much of each revision is shown", () => {
  const rows = REVISIONS.map((revision) => {
    const all = requirements.filter(({ revisions }) => revisions.includes(revision));
    const shown = all.filter(({ tests }) => tests.length > 0).length;
    const open = all.filter((each) => each.open !== undefined).length;
    return `${revision}: ${all.length} requirements, ${shown} shown, ${open} open, ${all.length - shown - open} not ours`;
  });
  console.log(rows.join("\n"));
  expect(rows).toHaveLength(REVISIONS.length);
});

/** The titles of tests and of groups in a file; none when there is no such file. */
function titlesIn(file: string): Set<string> {
  const titles = new Set<string>();
  const path = new URL(file, ROOT);
  if (!existsSync(path)) return titles;
  const { program } = parseSync(file, readFileSync(path, "utf8"));
  new Visitor({
    CallExpression({ callee, arguments: [title] }) {
      if (!["test", "it", "describe"].includes(String(nameOf(callee)))) return;
      if (title?.type === "Literal" && typeof title.value === "string") titles.add(title.value);
    },
  }).visit(program);
  return titles;
}

/** `test` of `test(…)`, `test.each(…)(…)`, `test.skipIf(…)(…)`. */
function nameOf(callee: unknown): string | undefined {
  const node = callee as {
    type: string;
    name: string;
    object: unknown;
    callee: unknown;
    expression: unknown;
  };
  if (node.type === "Identifier") return node.name;
  const inner = node.object ?? node.callee ?? node.expression;
  return inner === undefined ? undefined : nameOf(inner);
}
