// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configurations' own variables
/** `.env.example`: every variable that is read stands in it, and nothing else; `npm run env:init` copies it. */

import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { builtins } from "@patchbay/servers";
import { expect, it } from "vitest";
import { VARIABLES } from "../src/config/known-variables.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const example = readFileSync(join(ROOT, ".env.example"), "utf8");
const inExample = [...example.matchAll(/^# ([A-Z][A-Z\d_]+)=/gm)].map(([, name]) => name);

/** What the system, the terminal or the platform sets, and no user of ours. */
const SYSTEM =
  /^(APPDATA|CLAUDE_CONFIG_DIR|DISPLAY|HOME|LANG|LC_\w+|LOGNAME|NO_COLOR|PATH|SHELL|TEMP|TERM|TMP|TMPDIR|USER|USERPROFILE|WAYLAND_DISPLAY|WSL_DISTRO_NAME|XDG_\w+|NODE_\w+)$/;

function sources(): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(ROOT, "packages"))) {
    const src = join(ROOT, "packages", name, "src");
    for (const file of readdirSync(src, { recursive: true, encoding: "utf8" }))
      if (file.endsWith(".ts")) found.set(`${name}/${file}`, readFileSync(join(src, file), "utf8"));
  }
  return found;
}

/** `process.env.X`, `environment.X`, `env.X`, `{ X, Y } = process.env`, `text(env, "X")`, and keys by name. */
function readIn(text: string): string[] {
  const direct = [...text.matchAll(/\b(?:process\.env|environment|env)(?:\.|\[")([A-Z][A-Z\d_]{2,})\b/g)];
  const asked = [...text.matchAll(/(?:\benv, |\b[vV]ariable\()"([A-Z][A-Z\d_]{2,})"/g)];
  const taken = [...text.matchAll(/\{([^{}]*)\} = process\.env\b/g)].flatMap(([, names = ""]) => [
    ...names.matchAll(/\b([A-Z][A-Z\d_]{2,})\b/g),
  ]);
  const keys = [...text.matchAll(/"([A-Z][A-Z\d]*_API_KEY)"/g)];
  return [...direct, ...asked, ...taken, ...keys].map(([, name = ""]) => name);
}

it("has each variable once, with a comment above it", () => {
  expect(inExample).toEqual([...new Set(inExample)]);
  const lines = example.split("\n");
  for (const name of inExample) {
    const at = lines.findIndex((line) => line.startsWith(`# ${name}=`));
    expect(lines[at - 1], name).toMatch(/^# (?![A-Z_\d]+=)./);
  }
  // Nothing is set in it: what a user does not touch changes nothing.
  expect(example).not.toMatch(/^[^#\n]/m);
});

it("has what is known, and what is known is in it", () => {
  expect([...inExample].sort()).toEqual(Object.keys(VARIABLES).sort());
  for (const [name, { environment = [] }] of builtins)
    for (const variable of environment) expect(inExample, `${name} reads ${variable}`).toContain(variable);
});

it("has every variable that the code reads", () => {
  const missing = [...sources()].flatMap(([file, text]) =>
    readIn(text)
      .filter((name) => !SYSTEM.test(name) && !(name in VARIABLES))
      .map((name) => `${file} reads ${name}`),
  );
  expect(missing).toEqual([]);
});

it("has no variable that nothing reads", () => {
  const all = [...sources()]
    .filter(([file]) => file !== "cli/config/known-variables.ts")
    .map(([, text]) => text)
    .join("\n");
  // LangSmith's own library reads these.
  const unread = inExample.filter(
    (name) => !name?.startsWith("LANGSMITH_") && !new RegExp(`\\b${name}\\b`).test(all),
  );
  const awaited = [
    ...(builtins.has("web")
      ? []
      : [
          "TAVILY_API_KEY",
          "BRAVE_API_KEY",
          "EXA_API_KEY",
          "SEARXNG_URL",
          "FIRECRAWL_API_KEY",
          "WEB_SEARCH_MAX_RESULTS",
          "WEB_FETCH_MAX_CHARACTERS",
        ]),
    ...(builtins.has("database") ? [] : ["DATABASE_URL"]),
  ];
  expect(unread.filter((name) => !awaited.includes(name ?? ""))).toEqual([]);
});

it("is copied by env:init, and never over a file that is there", () => {
  const folder = mkdtempSync(join(tmpdir(), "patchbay-init-"));
  try {
    mkdirSync(join(folder, "scripts"));
    for (const file of [".env.example", "scripts/env-init.mjs", "scripts/run.mjs"])
      cpSync(join(ROOT, file), join(folder, file));
    const init = () =>
      execFileSync(process.execPath, [join(folder, "scripts/env-init.mjs")], { encoding: "utf8" });
    expect(init()).toMatch(/is there now/);
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe(example);
    if (process.platform !== "win32") expect(statSync(join(folder, ".env")).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, ".env"), "MODEL=mine\n");
    expect(init()).toMatch(/stays as it is/);
    expect(readFileSync(join(folder, ".env"), "utf8")).toBe("MODEL=mine\n");
    const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    expect(scripts["env:init"]).toBe("node scripts/env-init.mjs");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("each server and the host can be started by VS Code", () => {
  const { configurations } = JSON.parse(readFileSync(join(ROOT, ".vscode/launch.json"), "utf8"));
  const started = configurations.map(({ args }: { args: string[] }) => args.slice(0, 2).join(" "));
  expect(started).toContain("chat");
  for (const name of builtins.keys()) expect(started).toContain(`serve ${name}`);
  for (const { program } of configurations)
    expect(existsSync(program.replace("${workspaceFolder}", ROOT)), program).toBe(true);
});
