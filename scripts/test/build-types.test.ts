/** The check of what the build needs finds types that only a development installation has. */

import { expect, test } from "vitest";
import { checkBuildTypes } from "../checks/build-types.mjs";

test.each([
  ["lock", "lock", [expect.stringContaining("packages/client/package.json:2: packages/client/src/a.ts")]],
  ["@far/lock", "far__lock", [expect.stringContaining("@types/far__lock")]],
  ["another", "lock", []],
])("an import of %s, and @types/%s for development", (imported, types, problems) => {
  const sources = new Map([
    ["package.json", JSON.stringify({ dependencies: { "@types/node": "1.0.0" } })],
    ["packages/client/package.json", `{"devDependencies": {\n"@types/${types}": "1.0.0"}}`],
    ["packages/client/src/a.ts", `import { lock } from "${imported}";`],
  ]);
  expect(checkBuildTypes(sources)).toEqual(problems);
  sources.set("package.json", JSON.stringify({ dependencies: { [`@types/${types}`]: "1.0.0" } }));
  expect(checkBuildTypes(sources)).toEqual([]);
});

test("an import of what is there for development alone", () => {
  const sources = new Map([
    ["package.json", "{}"],
    [
      "packages/client/package.json",
      `{"devDependencies": {\n"@far/keys": "1.0.0", "@patchbay/core": "1.0.0"}}`,
    ],
    ["packages/client/src/a.ts", `import "@patchbay/core"; await import("@far/keys");`],
  ]);
  expect(checkBuildTypes(sources)).toEqual([
    expect.stringMatching(
      /^packages\/client\/package.json:2: packages\/client\/src\/a.ts .* @far\/keys, .* no literal$/,
    ),
  ]);
});
