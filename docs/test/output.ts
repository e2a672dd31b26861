/** Compares what a program printed with what a document says it prints; `…` stands for anything. */

/** True when they agree. `…` in a line stands for any text there, alone on a line for any lines. */
export function matches(shown: string, printed: string): boolean {
  const wanted = normalize(shown).split("\n");
  const pattern = wanted.map((line) => (line.trim() === "…" ? ANY_LINES : lineOf(line))).join("");
  return new RegExp(`^${pattern}$`).test(`${normalize(printed)}\n`);
}

const ANY_LINES = "(?:[^\\n]*\\n)*";

function lineOf(line: string): string {
  const parts = line.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return `${parts.join("[^\\n]*")}\\n`;
}

function normalize(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[ \t]+$/gm, "")
    .trim();
}
