/** Each revision belongs to one era. */

import { expect, test } from "vitest";
import {
  eraOf,
  isRevision,
  LATEST_LEGACY,
  LATEST_MODERN,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  REVISIONS,
} from "../src/revisions.ts";

test("the eras share the revisions between them, newest first", () => {
  expect([...MODERN_REVISIONS, ...LEGACY_REVISIONS]).toEqual(REVISIONS);
  expect(MODERN_REVISIONS[0]).toBe(LATEST_MODERN);
  expect(LEGACY_REVISIONS[0]).toBe(LATEST_LEGACY);
  expect([...REVISIONS].sort().reverse()).toEqual(REVISIONS);
});

test.each([
  ["2024-11-05", "legacy"],
  ["2025-11-25", "legacy"],
  ["2026-07-28", "modern"],
  ["2027-01-01", "modern"],
])("%s is %s", (revision, era) => {
  expect(eraOf(revision)).toBe(era);
});

test.each([
  ["2026-07-28", true],
  ["2026-07-29", false],
  ["", false],
  [undefined, false],
  [20260728, false],
])("isRevision(%j) is %j", (name, is) => expect(isRevision(name)).toBe(is));
