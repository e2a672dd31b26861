/**
 * Bundles each package with the libraries that it uses: Node takes most of a start to find and load their many small
 * files. What a dynamic import loads stays apart, and is loaded when it is wanted; all share one copy of what they
 * share. The packages of this repository stay outside of each other's bundles.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "./run.mjs";

/**
 * What stays outside: each other's packages, what an application sets up for all of its libraries, and what finds files
 * of its own.
 */
const OUTSIDE = [
  /^node:/,
  /^@patchbay\//,
  "@opentelemetry/api",
  "@napi-rs/keyring",
  "@photostructure/sqlite",
  "pg",
];
/** What was bundled, and which files came of it. */
const STAMP = ".bundled";

/** Bundles the packages that leave it to us, where something changed. */
export async function bundle() {
  for (const folder of packageFolders().filter(emitsOnlyTypes)) await bundlePackage(folder);
}

export function packageFolders() {
  return readdirSync(join(ROOT, "packages"))
    .map((name) => join(ROOT, "packages", name))
    .filter((folder) => existsSync(join(folder, "tsconfig.json")));
}

/** True for a package whose compiler leaves out the code. */
export function emitsOnlyTypes(folder) {
  const { compilerOptions } = JSON.parse(readFileSync(join(folder, "tsconfig.json"), "utf8"));
  return compilerOptions?.emitDeclarationOnly === true;
}

async function bundlePackage(folder) {
  const dist = join(folder, "dist");
  const digest = digestOf(folder);
  const before = readStamp(dist);
  if (before.digest === digest && before.files.every((file) => existsSync(join(dist, file)))) return;
  console.error(`Bundling ${relative(ROOT, folder)} …`);
  const { rolldown } = await import("rolldown");
  const build = await rolldown({
    input: entriesOf(folder),
    platform: "node",
    external: OUTSIDE,
    tsconfig: false,
    onLog(level, log) {
      if (level === "warn") throw new Error(`${relative(ROOT, folder)}: ${log.message}`);
    },
  });
  const { output } = await build.write({
    dir: dist,
    format: "esm",
    // Beside the entries: what stands in `import.meta.url` means the same in all of them.
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    // Less text is read in less time. Names and lines stay: of an error that nobody catches Node prints the line.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: false } },
  });
  await build.close();
  const files = output.map(({ fileName }) => fileName);
  for (const file of before.files) if (!files.includes(file)) rmSync(join(dist, file), { force: true });
  writeFileSync(join(dist, STAMP), JSON.stringify({ digest, files }));
}

/** The entries by their names in dist: what the package exports, what it starts as threads, and its executable. */
function entriesOf(folder) {
  const { exports, imports = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = [...Object.values(exports).map((each) => each.default), ...Object.values(imports)];
  const names = files.map((file) => /^\.\/dist\/(.*)\.js$/.exec(file)[1]);
  if (existsSync(join(folder, "src", "main.ts"))) names.push("main");
  return Object.fromEntries(names.map((name) => [name, join(folder, "src", `${name}.ts`)]));
}

/** Name, size and time of all that the bundle is made of; the libraries by the lockfile. */
function digestOf(folder) {
  const hash = createHash("sha256");
  const add = (file) => {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(ROOT, file)} ${size} ${mtimeMs}\n`);
  };
  hash.update(readFileSync(join(ROOT, "package-lock.json")));
  add(fileURLToPath(import.meta.url));
  add(join(folder, "package.json"));
  const sources = readdirSync(join(folder, "src"), { recursive: true }).filter((file) =>
    file.endsWith(".ts"),
  );
  for (const file of sources.sort()) add(join(folder, "src", file));
  return hash.digest("hex");
}

function readStamp(dist) {
  try {
    return JSON.parse(readFileSync(join(dist, STAMP), "utf8"));
  } catch {
    return { digest: undefined, files: [] };
  }
}
