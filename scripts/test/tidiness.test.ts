/** The checks of names, openings, lengths and places find what they are for, and leave the rest alone. */

import { expect, test } from "vitest";
import { checkPrivatePlaces } from "../checks/private-places.mjs";
import { checkLength, checkNames, checkOpening } from "../checks/tidiness.mjs";

const one = (file: string, text: string) => new Map([[file, text]]);

test.each([
  [1, 0, 0],
  [300, 0, 0],
  [301, 0, 1],
  [500, 0, 1],
  [501, 1, 0],
])("a file of %i lines: %i problems, %i warnings", (lines, problems, warnings) => {
  const found = checkLength(one("packages/core/src/a.ts", "let a;\n".repeat(lines)));
  expect([found.problems.length, found.warnings.length]).toEqual([problems, warnings]);
});

test.each([
  ["/** What it is. */\n", true],
  ["/**\n * What it is, over\n * two lines.\n */\n", true],
  ["#!/usr/bin/env node\n/** The command: `main`. */\n", true],
  ["/** */\n", false],
  ["/** thing */\n", false],
  ["// What it is.\n", false],
  ["import a from 'a';\n/** Too late. */\n", false],
  ["", false],
])("%j opens with a sentence: %j", (text, fine) => {
  expect(checkOpening(one("packages/core/src/a.ts", text))).toHaveLength(fine ? 0 : 1);
});

test.each([
  ["packages/core/src/utils.ts", "", 1],
  ["packages/core/src/common/a.ts", "", 1],
  ["packages/core/src/a.ts", "export class SessionManager {}", 1],
  ["packages/core/src/a.ts", "export function urlHelper() {}", 1],
  ["packages/core/src/a.ts", "export const utilization = 1; export function greatestCommonDivisor() {}", 0],
])("%s with %j: %i empty names", (file, text, count) => {
  expect(checkNames(one(file, text))).toHaveLength(count);
});

// Put together here, so that this file passes the check itself.
const HOST = ["https://", "registry.example.com"].join("");
const PLACE = ["/ro", "ot/thing"].join("");

test.each([
  [`see ${PLACE}`, "write it relative"],
  ["cd /srv/clone/patchbay", "write it relative"],
  [`"resolved": "${HOST}/a.tgz"`, "the lockfile names a host"],
  [`registry=${HOST}/npm/`, "is a package registry"],
  ["https://registry.modelcontextprotocol.io/v0", undefined],
  ["a/root/path, ./work/x and ~/work/x", undefined],
  ['"resolved": "packages/core"', undefined],
])("%j: %s", (text, expected) => {
  const found = checkPrivatePlaces("/srv/clone", one("a.md", `first\n${text}`));
  expect(found).toEqual(expected === undefined ? [] : [expect.stringMatching(`^a\\.md:2: .*${expected}`)]);
});
