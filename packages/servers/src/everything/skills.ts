/** A skill, served by the Skills extension (SEP-2640): its files are resources, its entry says what they must be. */

import { createHash } from "node:crypto";
import { ErrorCode, eraOf, type JsonObject, ProtocolError } from "@patchbay/core";
import type { Context, McpServer } from "@patchbay/server";

/** What the server declares when it has skills. */
export const SKILLS_EXTENSION: JsonObject = { "io.modelcontextprotocol/skills": { directoryRead: true } };

const ROOT = "skill://trip-planning";
const FRONTMATTER = {
  name: "trip-planning",
  description: "Plan a day in a city with the prompt plan_trip and the user's tastes",
};
const FILES = new Map([
  [
    `${ROOT}/SKILL.md`,
    `---
name: ${FRONTMATTER.name}
description: ${FRONTMATTER.description}
---

1. Ask for the country and the city; \`plan_trip\` completes both.
2. Ask what the user likes.
3. Plan no more than references/pace.md allows.
`,
  ],
  [`${ROOT}/references/pace.md`, "Two sights in the morning, two in the afternoon, and a long lunch.\n"],
]);

const ENTRY = {
  uri: `${ROOT}/SKILL.md`,
  frontmatter: FRONTMATTER,
  resources: [...FILES].map(([uri, text]) => ({
    uri,
    digest: `sha256:${createHash("sha256").update(text).digest("hex")}`,
    size: Buffer.byteLength(text),
  })),
};

/** Gives a server the skill. */
export function addSkill(server: McpServer): void {
  for (const [uri, text] of FILES) {
    const described = uri === ENTRY.uri ? FRONTMATTER : { name: nameOf(uri) };
    server.resource(uri, { ...described, mimeType: "text/markdown" }, () => text);
  }
  server.method("skills/list", (_params, ctx) => ({ skills: [ENTRY], ...keeping(ctx) }));
  server.method("skills/get", ({ uri }, ctx) => {
    if (uri !== ENTRY.uri) throw unknown("skill", uri);
    return { skill: ENTRY, ...keeping(ctx) };
  });
  server.method("resources/directory/read", ({ uri }, ctx) => {
    const resources = childrenOf(String(uri).replace(/\/$/, ""));
    if (resources.length === 0) throw unknown("directory", uri);
    return { resources, ...keeping(ctx) };
  });
}

/** What is directly in a directory: files, and directories for what is deeper. */
function childrenOf(directory: string): JsonObject[] {
  const paths = [...FILES.keys()].filter((uri) => uri.startsWith(`${directory}/`));
  const names = new Set(paths.map((uri) => uri.slice(directory.length + 1).split("/")[0] as string));
  return [...names].map((name) => {
    const uri = `${directory}/${name}`;
    return { uri, name, mimeType: FILES.has(uri) ? "text/markdown" : "inode/directory" };
  });
}

/** How long the answer may be kept, in the revisions that say so. */
function keeping({ revision }: Context): JsonObject {
  return eraOf(revision) === "modern" ? { ttlMs: 0, cacheScope: "public" } : {};
}

function nameOf(uri: string): string {
  return uri.slice(uri.lastIndexOf("/") + 1);
}

function unknown(what: string, uri: unknown): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `There is no ${what} at this URI`, { uri: String(uri) });
}
