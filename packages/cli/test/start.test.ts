/** scripts/start.mjs on a small workspace of its own, with the real npm and the real compiler. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

// Each test starts several processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");
const CLI = `export async function main(words: string[]): Promise<never> {
  process.stdout.write(JSON.stringify(words));
  process.exit(0);
}
`;
let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "patchbay-start-")));
  const put = (file: string, content: string | object) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), typeof content === "string" ? content : JSON.stringify(content));
  };
  put("package.json", { name: "w", private: true, type: "module", workspaces: ["packages/*", "tools/*"] });
  // Nothing is fetched: the compiler is a workspace too, and hands over to the real one.
  put("tools/typescript/package.json", {
    name: "typescript",
    version: "7.0.2",
    type: "module",
    bin: "bin/tsc",
  });
  put(
    "tools/typescript/bin/tsc",
    `import ${JSON.stringify(join(ROOT, "node_modules/typescript/lib/tsc.js"))};`,
  );
  put("packages/cli/package.json", { name: "cli", version: "1.0.0", type: "module" });
  put("packages/cli/src/index.ts", CLI);
  copyFileSync(join(ROOT, "tsconfig.base.json"), join(folder, "tsconfig.base.json"));
  put("tsconfig.json", { files: [], references: [{ path: "packages/cli" }] });
  put("packages/cli/tsconfig.json", {
    extends: "../../tsconfig.base.json",
    compilerOptions: {
      rootDir: "src",
      outDir: "dist",
      tsBuildInfoFile: "dist/.tsbuildinfo",
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    include: ["src"],
  });
  mkdirSync(join(folder, "scripts"));
  for (const script of ["start.mjs", "build.mjs", "bundle.mjs", "run.mjs", "node-version.mjs"]) {
    copyFileSync(join(ROOT, "scripts", script), join(folder, "scripts", script));
  }
  npm("install", "--package-lock-only");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function npm(...args: string[]): void {
  execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund"], { cwd: folder, stdio: "ignore" });
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

function begin(...words: string[]): ChildProcess {
  const env = { ...process.env, npm_config_offline: "true" };
  return spawn(process.execPath, [join(folder, "scripts/start.mjs"), ...words], { cwd: folder, env });
}

function ended(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk) => (stdout += chunk));
  child.stderr?.on("data", (chunk) => (stderr += chunk));
  return new Promise((done) => child.once("close", (code) => done({ code, stdout, stderr })));
}
const start = (...words: string[]) => ended(begin(...words));
const stamp = () => join(folder, "packages/cli/dist/.built");
const lock = () => join(folder, "packages/cli/dist/.start-lock");

it("installs and builds at first, once for two that start together", async () => {
  const both = await Promise.all([start("1+1"), start()]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(both.map(({ stdout }) => stdout)).toEqual(['["ask","1+1"]', '["chat"]']);
  const told = both.map(({ stderr }) => stderr).join("");
  expect(told.match(/Installing/g)).toHaveLength(1);
  expect(told.match(/Building/g)).toHaveLength(1);
  expect(existsSync(lock())).toBe(false);
});

it("does neither when nothing changed", async () => {
  expect(await start("x")).toEqual({ code: 0, stdout: '["ask","x"]', stderr: "" });
});

it("builds again after an edit", async () => {
  writeFileSync(join(folder, "packages/cli/src/index.ts"), CLI.replace("words)", '["edited", ...words])'));
  expect(await start("x")).toEqual({ code: 0, stdout: '["edited","ask","x"]', stderr: "Building …\n" });
});

it("says when the build fails, and recovers", async () => {
  writeFileSync(
    join(folder, "packages/cli/src/index.ts"),
    `${CLI}const wrong: number = "";\nexport { wrong };\n`,
  );
  const broken = await start("x");
  expect([broken.code, broken.stdout]).toEqual([1, ""]);
  expect(broken.stderr).toMatch(/TS2322[\s\S]*error: The build failed/);
  writeFileSync(join(folder, "packages/cli/src/index.ts"), CLI);
  expect(await start("x")).toMatchObject({ code: 0, stdout: '["ask","x"]' });
});

it("is content with an installation that somebody else made", async () => {
  npm("ci");
  const after = await start("x");
  expect(after).toMatchObject({ code: 0, stdout: '["ask","x"]', stderr: "" });
});

it("installs again when an installation was interrupted, or the lockfile changed", async () => {
  rmSync(join(folder, "node_modules/.package-lock.json"));
  rmSync(join(folder, "node_modules/.patchbay-install"));
  expect((await start("x")).stderr).toMatch(/Installing/);
  const file = join(folder, "package-lock.json");
  const content = JSON.parse(readFileSync(file, "utf8"));
  content.packages["node_modules/absent"] = { version: "1.0.0" };
  writeFileSync(file, JSON.stringify(content));
  const manifest = join(folder, "packages/cli/package.json");
  const before = readFileSync(manifest, "utf8");
  writeFileSync(manifest, JSON.stringify({ ...JSON.parse(before), dependencies: { absent: "1.0.0" } }));
  const refused = await start("x");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/error: The installation failed/);
  writeFileSync(manifest, before);
  npm("install", "--package-lock-only");
  expect(await start("x")).toMatchObject({ code: 0, stdout: '["ask","x"]' });
});

it("builds again when output is gone, though the compiler's notes are not", async () => {
  rmSync(join(folder, "packages/cli/dist/index.js"));
  expect(await start("x")).toMatchObject({ code: 0, stdout: '["ask","x"]' });
});

it("takes over the lock of a start that died", async () => {
  const dead = spawn(process.execPath, ["-e", ""]);
  await ended(dead);
  writeFileSync(lock(), String(dead.pid));
  rmSync(stamp());
  expect(await start("x")).toMatchObject({ code: 0, stdout: '["ask","x"]' });
  expect(existsSync(lock())).toBe(false);
});

it("waits for a start that lives", async () => {
  writeFileSync(lock(), String(process.pid));
  rmSync(stamp());
  const child = begin("x");
  const end = ended(child);
  await new Promise<void>((resolve) => child.stderr?.once("data", () => resolve()));
  rmSync(lock());
  const { code, stderr } = await end;
  expect([code, stderr]).toEqual([
    0,
    "Another start is installing or building; waiting for it …\nBuilding …\n",
  ]);
});

it("lets go when it is interrupted", async () => {
  rmSync(stamp());
  const child = begin("x");
  const end = ended(child);
  await new Promise<void>((resolve) => child.stderr?.once("data", () => resolve()));
  child.kill("SIGINT");
  expect(await end).toMatchObject({ code: 130, stdout: "" });
  expect(await start("x")).toMatchObject({ code: 0, stdout: '["ask","x"]' });
});
