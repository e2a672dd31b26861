/** What changed between two texts, line by line, with what cannot be seen spelled out. */

const UNSEEN =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/gu;
/** Unchanged lines around a change. */
const AROUND = 2;
/** Steps of comparing; texts that take more are shown whole. */
const MAX_STEPS = 4_000_000;

/** Lines that begin with `-`, `+` or a space; long unchanged stretches are left out. Empty for equal texts. */
export function diffLines(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let end = 0;
  while (
    end < Math.min(old.length, now.length) - start &&
    old[old.length - 1 - end] === now[now.length - 1 - end]
  )
    end++;
  if (start === old.length && start === now.length) return "";
  return [
    ...(start > AROUND ? ["  …"] : []),
    ...old.slice(Math.max(0, start - AROUND), start).map((line) => `  ${line}`),
    ...changes(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end, old.length - end + AROUND).map((line) => `  ${line}`),
    ...(end > AROUND ? ["  …"] : []),
  ].join("\n");
}

/** All lines of a text as new ones. */
export function addedLines(text: string): string {
  return linesOf(text)
    .map((line) => `+ ${line}`)
    .join("\n");
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(UNSEEN, (unseen) => `\\u{${unseen.codePointAt(0)?.toString(16)}}`));
}

/** By the longest common subsequence. */
function changes(old: string[], now: string[]): string[] {
  const minus = (line: string) => `- ${line}`;
  const plus = (line: string) => `+ ${line}`;
  if (old.length * now.length > MAX_STEPS) return [...old.map(minus), ...now.map(plus)];
  const width = now.length + 1;
  const common = new Uint32Array((old.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] as number;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push(`  ${old[i]}`);
      i++;
      j++;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push(minus(old[i++] as string));
    } else lines.push(plus(now[j++] as string));
  }
  return lines;
}
