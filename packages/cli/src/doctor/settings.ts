/** `doctor` looks at what a question needs besides servers: Node.js, the model, and where settings come from. */

import { chooseModel, type Model } from "@patchbay/host";
import type { Named } from "../config/config.ts";
import { isSet, KEYS, VARIABLES } from "../config/known-variables.ts";
import type { Context } from "../context.ts";
import { toFailure } from "../failure.ts";
import type { ModelFinding, NodeFinding, Origin } from "./finding.ts";

const OLDEST_NODE = [20, 19] as const;

export function lookAtNode(): NodeFinding {
  const { node: version } = process.versions;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const ok = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  if (ok) return { ok, version };
  return {
    ok,
    version,
    problem: "it is too old",
    remedy: `Install Node.js ${OLDEST_NODE.join(".")} or later.`,
  };
}

/** Chooses the model as a question would; nothing is sent to a provider. */
export async function lookAtModel({
  fromFile,
}: Context): Promise<{ finding: ModelFinding; model: Model | undefined }> {
  try {
    const model = await chooseModel(process.env, { fromFile });
    return { finding: { ok: true, name: model.label }, model };
  } catch (thrown) {
    return { finding: { ok: false, problem: toFailure(thrown).message }, model: undefined };
  }
}

export function lookAtKeys(): Record<string, boolean> {
  return Object.fromEntries(KEYS.map((name) => [name, isSet(name)]));
}

/** Where each variable of ours that is set comes from. */
export function lookAtVariables({ fromFile }: Context): Record<string, Origin> {
  const set = Object.keys(VARIABLES).filter((name) => isSet(name));
  return Object.fromEntries(set.map((name) => [name, originOf(name, fromFile)]));
}

/** The variables that an entry of the configuration names. */
export function variablesOf({ entry }: Named, { fromFile }: Context): Record<string, Origin> {
  const found: Record<string, Origin> = {};
  const own = ("command" in entry ? entry.env : entry.headers) ?? {};
  for (const [name, value] of Object.entries(own)) if (!value.includes("${")) found[name] = "mcp.json";
  const named = JSON.stringify(entry).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)(:-[^}]*)?\}/g);
  for (const [, name = "", otherwise] of named) {
    if (isFolder(name)) continue;
    found[name] = process.env[name]
      ? originOf(name, fromFile)
      : otherwise === undefined
        ? "unset"
        : "default";
  }
  return found;
}

function originOf(name: string, fromFile: ReadonlySet<string>): Origin {
  return fromFile.has(name) ? ".env" : "environment";
}

function isFolder(name: string): boolean {
  return ["userHome", "workspaceFolder", "workspaceFolderBasename", "cwd", "pathSeparator"].includes(name);
}
