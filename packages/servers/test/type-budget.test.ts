/** What a server of 200 typed tools, and a client that knows them, cost the compiler: counted, not timed. */

import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TOOLS = 200;

/** One chain of tools, each with schemas of its own; calls of the first and the last; and what must be an error. */
function program(tools: number): string {
  const chain = Array.from(
    { length: tools },
    (_, n) => `  .tool(
    "tool_${n}",
    {
      input: z.object({ field_${n}: z.string(), count: z.number().default(1), mode: z.enum(["a", "b"]).optional() }),
      output: z.object({ result_${n}: z.number() }),
    },
    ({ field_${n}, count }) => ({ result_${n}: field_${n}.length * count }),
  )`,
  );
  const last = tools - 1;
  return `import { connect } from "@patchbay/client";
import { McpServer } from "@patchbay/server";
import { z } from "zod";

const server = new McpServer({ name: "large", version: "1" })
${chain.join("\n")};

const client = await connect(server);
const first = await client.callTool("tool_0", { field_0: "x" });
export const length: number | undefined = first.structuredContent?.result_0;
const last = await client.callTool("tool_${last}", { field_${last}: "x", count: 2, mode: "b" });
export const end: number | undefined = last.structuredContent?.result_${last};
// @ts-expect-error: a string is wanted
await client.callTool("tool_${last}", { field_${last}: 1 });
// @ts-expect-error: another tool's field
await client.callTool("tool_${last}", { field_0: "x" });
// @ts-expect-error: there is no such tool
await client.callTool("tool_${tools}", {});
// @ts-expect-error: the result is of its own tool
export const wrong = last.structuredContent?.result_0;
`;
}

/** Compiles it; gives what the compiler counted, by name, and what it said. */
async function compile(tools: number): Promise<{ said: string; count: (name: string) => number }> {
  const folder = await mkdtemp(join(tmpdir(), "type-budget-"));
  try {
    await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const config = {
      extends: join(ROOT, "tsconfig.base.json"),
      compilerOptions: {
        composite: false,
        declaration: false,
        sourceMap: false,
        noEmit: true,
        incremental: false,
      },
      files: ["program.ts"],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(join(folder, "program.ts"), program(tools));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const said = await new Promise<string>((resolve) => {
      const args = [tsc, "-p", folder, "--extendedDiagnostics", "--singleThreaded", "--pretty", "false"];
      execFile(process.execPath, args, (_error, stdout, stderr) => resolve(stdout + stderr));
    });
    const count = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(said)?.[1]);
    return { said, count };
  } finally {
    await rm(folder, { recursive: true });
  }
}

test(`${TOOLS} typed tools and their calls keep to the budget`, async () => {
  const small = await compile(2);
  const large = await compile(TOOLS);
  expect(small.said).not.toMatch(/error TS/);
  expect(large.said).not.toMatch(/error TS/);
  // Counted with TypeScript 7.0: 3,381, 389,481 and 84 MB.
  expect(small.count("Instantiations")).toBeLessThan(5000);
  expect(large.count("Instantiations")).toBeLessThan(500_000);
  expect(large.count("Memory used")).toBeLessThan(130_000);
});
