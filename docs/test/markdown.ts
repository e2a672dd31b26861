/** Reads the fenced blocks of a document, and what their marks ask for. */

/** A fenced block: its first word is the language, the rest, which no renderer shows, are marks. */
export interface Block {
  /** Where its text begins: the first line is 1. */
  line: number;
  language: string;
  text: string;
  /** Executed, and compared with the `output` block that follows. */
  run: boolean;
  /** The block goes on where the one before it ended. */
  continues: boolean;
  /** What the block before it must print. */
  output: boolean;
  /** The name under which the document's other blocks find this one. */
  file: string | undefined;
  /** The programs of the machine, beside Node, that it needs to run. */
  needs: readonly string[];
  /** Where a shell block runs: in the repository, or where the document's `file` blocks are. */
  folder: "repository" | "files";
}

/** The marks of each language; any other is a mistake. */
const MARKS: Record<string, readonly RegExp[]> = {
  ts: [/^run$/, /^continues$/, /^needs=[\w-]+$/, /^file=[\w-]+\.ts$/],
  js: [/^file=[\w-]+\.m?js$/],
  json: [/^file=[\w-]+\.json$/],
  sh: [/^run$/, /^needs=[\w-]+$/, /^in=files$/],
  text: [/^output$/],
};
/** What has no marks; a new language is named here. */
const PLAIN = ["", "mermaid", "yaml", "toml", "python", "http", "diff"];

/** Reads a document's blocks, in order; a mistake is an error that tells the document and the line. */
export function readBlocks(document: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let open: { fence: string; block: Block; text: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const at = `${document}:${index + 1}`;
    if (open !== undefined) {
      if (line.trim() === open.fence) {
        blocks.push({ ...open.block, text: open.text.join("\n") });
        open = undefined;
      } else open.text.push(line);
      continue;
    }
    const [, fence, info] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === undefined || info === undefined) continue;
    const block = readInfo(at, index + 2, info.trim());
    checkPlace(at, block, blocks.at(-1));
    open = { fence, block, text: [] };
  }
  if (open !== undefined) throw new Error(`${document}:${open.block.line - 1}: this block is never closed`);
  return blocks;
}

function readInfo(at: string, line: number, info: string): Block {
  const [language = "", ...marks] = info.split(/\s+/);
  const known = MARKS[language] ?? (PLAIN.includes(language) ? [] : undefined);
  if (known === undefined) {
    const languages = [...Object.keys(MARKS), ...PLAIN].filter(Boolean).join(", ");
    throw new Error(`${at}: unknown language "${language}"; use ${languages}`);
  }
  for (const mark of marks) {
    if (known.some((pattern) => pattern.test(mark))) continue;
    const take = known.map((pattern) => pattern.source.slice(1, -1)).join(", ") || "none";
    throw new Error(`${at}: unknown mark "${mark}"; ${language} takes ${take}`);
  }
  return {
    line,
    language,
    text: "",
    run: marks.includes("run"),
    continues: marks.includes("continues"),
    output: marks.includes("output"),
    file: marks.find((mark) => mark.startsWith("file="))?.slice("file=".length),
    needs: marks.filter((mark) => mark.startsWith("needs=")).map((mark) => mark.slice("needs=".length)),
    folder: marks.includes("in=files") ? "files" : "repository",
  };
}

function checkPlace(at: string, block: Block, previous: Block | undefined): void {
  if (block.output && previous?.run !== true) {
    throw new Error(`${at}: "output" follows a block that is marked "run"`);
  }
  if (block.continues && (previous?.language !== "ts" || block.file !== undefined)) {
    throw new Error(`${at}: "continues" follows a ts block, and has no "file" of its own`);
  }
}
