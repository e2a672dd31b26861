/** The sentences of the specification that oblige somebody, and a short hash of each: its text stays where it is. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const OBLIGES = /\b(?:MUST|REQUIRED|SHALL)\b/;

/**
 * @param {string} folder the specification's pages: `docs/specification/<revision>` of its repository
 * @returns {{ page: string, section: string, text: string, hash: string }[]}
 */
export function sentencesIn(folder) {
  const pages = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".mdx"));
  return pages.sort().flatMap((file) => {
    const page = file.replace(/\.mdx$/, "").replace(/(?:^|\/)index$/, "") || "index";
    const text = readFileSync(join(folder, file), "utf8").replace(/^---\n[\s\S]*?\n---\n/, "");
    return obliging(blocksOf(text)).map((sentence) => ({ page, ...sentence, hash: hashOf(sentence.text) }));
  });
}

function hashOf(text) {
  return createHash("sha256").update(text).digest("hex").slice(0, 10);
}

/** Paragraphs, list items and rows of tables, each with the heading that it stands under. Code is passed over. */
function blocksOf(text) {
  const blocks = [];
  let section = "";
  let inCode = false;
  let open;
  const close = () => {
    if (open !== undefined) blocks.push(open);
    open = undefined;
  };
  const begin = (indent, content, isItem) => {
    close();
    open = { section, indent, text: content, isItem };
  };
  for (const line of text.split("\n")) {
    if (/^\s*(?:```|~~~)/.test(line)) {
      begin(0, "", false);
      close();
      inCode = !inCode;
      continue;
    }
    if (inCode) continue;
    const [, heading] = /^#+\s+(.*)/.exec(line) ?? [];
    const [, indent = "", item] = /^(\s*)(?:[-*+]|\d+\.)\s+(.*)/.exec(line) ?? [];
    if (heading !== undefined) {
      close();
      section = heading.replace(/[`*\\]/g, "").trim();
    } else if (line.trim() === "") close();
    else if (item !== undefined) begin(indent.length, item, true);
    else if (/^\s*\|/.test(line)) begin(0, line, false);
    else if (open === undefined) begin(line.search(/\S/), line, false);
    else open.text += ` ${line.trim()}`;
  }
  close();
  return blocks;
}

/** A sentence that introduces a list obliges to each of its items. */
function obliging(blocks) {
  return blocks.flatMap((block, index) => {
    const { section } = block;
    const sentences = plain(block.text).split(/(?<=[.!?:])\s+(?=[A-Z(“"])/);
    return sentences.flatMap((text, place) => {
      if (!OBLIGES.test(text)) return [];
      const introduces = text.endsWith(":") && place === sentences.length - 1;
      const items = introduces ? itemsAfter(blocks, index) : [];
      return items.length === 0
        ? [{ section, text }]
        : items.map((item) => ({ section, text: `${text} ${item}` }));
    });
  });
}

function itemsAfter(blocks, index) {
  const { isItem, indent } = blocks[index];
  const rest = blocks.slice(index + 1);
  const end = rest.findIndex((block) => !block.isItem || (isItem && block.indent <= indent));
  const list = end === -1 ? rest : rest.slice(0, end);
  return list
    .filter((block) => block.indent === list[0].indent)
    .map((block) => plain(block.text))
    .filter((text) => !OBLIGES.test(text));
}

function plain(text) {
  return text
    .replace(/<[^>]+>/g, " ")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/[*`_]/g, "")
    .replace(/\s+/g, " ")
    .trim();
}
