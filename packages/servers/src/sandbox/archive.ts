/** Files as a tar archive (POSIX ustar, with GNU and pax names): written by us, read from whoever. */

const BLOCK = 512;
const MAX_PATH_BYTES = 1024;
/** Of what says a name: more is no name, and is passed over. */
const MAX_NAME_BYTES = 64 * 1024;

/** Path, relative and with `/`, → content. */
export type FileMap = ReadonlyMap<string, Uint8Array>;

/** @param files whose paths have at most 100 bytes */
export function writeArchive(files: FileMap): Buffer {
  const blocks: Uint8Array[] = [];
  for (const [path, content] of files) {
    const header = Buffer.alloc(BLOCK);
    header.write(path, 0, 100);
    header.write("0000644\0", 100);
    header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("00000000000\0", 136);
    header.write("0", 156);
    header.write("ustar\x0000", 257);
    header.write(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, 148);
    blocks.push(header, content, Buffer.alloc(-content.length & (BLOCK - 1)));
  }
  blocks.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(blocks);
}

/**
 * The regular files of an archive: no symbolic links, devices or folders, and none whose path leads out of it. It is read
 * as far as it can be understood.
 */
export function readArchive(archive: Buffer): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  let longPath: string | undefined;
  let longTarget: string | undefined;
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    const size = octal(header, 124, 12);
    if (size === undefined || octal(header, 148, 8) !== sumOf(header)) break;
    const content = archive.subarray(at + BLOCK, at + BLOCK + size);
    if (content.length < size) break;
    at += BLOCK + size + (-size & (BLOCK - 1));
    const type = String.fromCharCode(header[156] ?? 0);
    const name = content.subarray(0, MAX_NAME_BYTES);
    if (type === "L") longPath = text(name, 0, name.length);
    else if (type === "x") longPath = paxPath(name) ?? longPath;
    else if (type === "K") longTarget = text(name, 0, name.length);
    else if (type !== "g") {
      const path = plainPath(longPath ?? shortPath(header));
      const target = plainPath(longTarget ?? text(header, 157, 100));
      longPath = longTarget = undefined;
      // A second name of a file names the first, which comes before it.
      const linked = type === "1" && target !== undefined ? files.get(target) : undefined;
      const file = type === "0" || type === "\0" ? content : linked;
      if (file !== undefined && path !== undefined) files.set(path, file);
    }
  }
  return files;
}

/** The path without `./`; nothing when it leads elsewhere, or cannot be shown. */
export function plainPath(path: string): string | undefined {
  if (path.length > 2 * MAX_PATH_BYTES) return undefined;
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const plain = parts.join("/");
  const strange = path.startsWith("/") || parts.includes("..") || /[\p{Cc}\p{Cf}\p{Cs}\uFFFD]/u.test(plain);
  return strange || plain === "" || Buffer.byteLength(plain) > MAX_PATH_BYTES ? undefined : plain;
}

function shortPath(header: Buffer): string {
  const name = text(header, 0, 100);
  // GNU keeps times where ustar has the first part of a long path.
  const prefix = text(header, 257, 8) === "ustar" ? text(header, 345, 155) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Records are `length key=value\n`. */
function paxPath(records: Buffer): string | undefined {
  return /(?:^|\n)\d+ path=([^\n]*)\n/.exec(records.toString("utf8"))?.[1];
}

function text(bytes: Buffer, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? length : end).toString("utf8");
}

function octal(header: Buffer, start: number, length: number): number | undefined {
  const digits = text(header, start, length).trim();
  return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : undefined;
}

/** The sum of a header's bytes, where its own place counts as spaces. */
function sumOf(header: Buffer): number {
  let sum = 8 * 32;
  for (let at = 0; at < BLOCK; at++) if (at < 148 || at >= 156) sum += header[at] ?? 0;
  return sum;
}
