/** Skills (SEP-2640): what a server's entries say of their files, and the check that what is read is what was said. */

import { createHash } from "node:crypto";
import { canonicalJson, isObject, type JsonObject } from "@patchbay/core";
import { InvalidResponseError, readable } from "./errors.ts";
import type { ItemCheck } from "./results.ts";

/** A file of a skill. */
export interface SkillFile {
  uri: string;
  /** `sha256:` and 64 hexadecimal digits. */
  digest: string;
  /** Bytes. */
  size: number;
}

/** A skill as its server lists it. */
export interface Skill {
  /** Of its `SKILL.md`. */
  uri: string;
  /** What is at the head of its `SKILL.md`. */
  frontmatter: JsonObject;
  resources: SkillFile[];
}

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const FRONTMATTER = /^---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/;
/** Characters of one frontmatter. */
const MAX_FRONTMATTER = 64 * 1024;

export const isSkill: ItemCheck = ({ uri, frontmatter, resources }) => {
  if (typeof uri !== "string") return "has no uri";
  if (!isObject(frontmatter)) return "has no frontmatter";
  if (!Array.isArray(resources)) return "has no resources";
  return resources.every(isFile) ? undefined : "has a resource without a uri, a SHA-256 digest and a size";
};

function isFile(file: unknown): boolean {
  if (!isObject(file) || typeof file.uri !== "string") return false;
  return typeof file.digest === "string" && DIGEST.test(file.digest) && Number.isInteger(file.size);
}

interface Expected extends SkillFile {
  /** Of a `SKILL.md`. */
  frontmatter: JsonObject | undefined;
}

/** The entries that the application holds. */
export class SkillBook {
  #files = new Map<string, Expected>();

  /** Learns the whole list. */
  learn(skills: readonly Skill[]): void {
    this.#files = new Map();
    for (const skill of skills) this.#add(skill);
  }

  /**
   * Checks a file that was read; one that no entry names is not looked at.
   *
   * @throws InvalidResponseError when it is not what its entry says: it must not be used
   */
  async verify(uri: string, result: JsonObject): Promise<void> {
    const expected = this.#files.get(uri);
    if (expected === undefined) return;
    const bytes = bytesOf(uri, result);
    if (bytes.length !== expected.size) {
      throw failed(uri, `it has ${bytes.length} bytes, and its skill's entry says ${expected.size}`);
    }
    if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` !== expected.digest) {
      throw failed(uri, "it does not have the digest that its skill's entry says");
    }
    if (expected.frontmatter === undefined) return;
    const frontmatter = await frontmatterOf(uri, bytes.toString());
    if (canonicalJson(frontmatter) !== canonicalJson(expected.frontmatter)) {
      throw failed(uri, "its frontmatter is not the one in its skill's entry");
    }
  }

  #add({ uri, frontmatter, resources }: Skill): void {
    for (const file of resources) {
      this.#files.set(file.uri, { ...file, frontmatter: file.uri === uri ? frontmatter : undefined });
    }
  }
}

function bytesOf(uri: string, { contents }: JsonObject): Buffer {
  const all = (Array.isArray(contents) ? contents : []).filter(isObject);
  const { text, blob } = all.find((part) => part.uri === uri) ?? {};
  if (all.length !== 1 || (typeof text !== "string" && typeof blob !== "string")) {
    throw failed(uri, "it was not given as one file");
  }
  return typeof text === "string" ? Buffer.from(text) : Buffer.from(blob as string, "base64");
}

async function frontmatterOf(uri: string, text: string): Promise<unknown> {
  const yaml = FRONTMATTER.exec(text.slice(0, MAX_FRONTMATTER))?.[1];
  if (yaml === undefined) throw failed(uri, "it has no frontmatter");
  // Few servers have skills.
  const { parse } = await import("yaml");
  try {
    return parse(yaml, { maxAliasCount: 0 });
  } catch (error) {
    throw failed(uri, `its frontmatter cannot be read: ${readable((error as Error).message)}`);
  }
}

function failed(uri: string, why: string): InvalidResponseError {
  return new InvalidResponseError(`resources/read: ${readable(uri)} must not be used: ${why}`);
}
