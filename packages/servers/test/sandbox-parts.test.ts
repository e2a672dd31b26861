/** The parts of the sandbox, each alone: the filter's program, archives, output, control groups. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MarkedStream } from "../src/code/marked.ts";
import { plainPath, readArchive, writeArchive } from "../src/sandbox/archive.ts";
import { sandboxLimits } from "../src/sandbox/limits.ts";
import { findMemoryGroups, makeMemoryGroup } from "../src/sandbox/memory.ts";
import { KeptOutput } from "../src/sandbox/output.ts";
import { seccompFilter } from "../src/sandbox/seccomp.ts";
import { PROCESSORS, type Processor } from "../src/sandbox/syscalls.ts";
import { memoryOf } from "../src/sandbox/watch.ts";

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const refusedWith = (errno: number) => 0x00050000 + errno;

/** Runs a filter as the kernel does: classic BPF over `struct seccomp_data`. */
function decide(filter: Uint8Array, audit: number, number: number, args: number[] = []): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, audit, true);
  for (const [index, argument] of args.entries()) data.setUint32(16 + 8 * index, argument, true);
  const program = new DataView(filter.buffer);
  let loaded = 0;
  for (let at = 0; ; at++) {
    const operation = program.getUint16(at * 8, true);
    const value = program.getUint32(at * 8 + 4, true);
    const jump = (taken: boolean) => program.getUint8(at * 8 + (taken ? 2 : 3));
    if (operation === 0x06) return value;
    if (operation === 0x20) loaded = data.getUint32(value, true);
    else if (operation === 0x15) at += jump(loaded === value);
    else if (operation === 0x35) at += jump(loaded >= value);
    else if (operation === 0x45) at += jump((loaded & value) !== 0);
    else throw new Error(`unknown operation ${operation}`);
  }
}

describe.each(Object.entries(PROCESSORS) as [string, Processor][])("the filter for %s", (name, processor) => {
  const filter = seccompFilter(processor);
  const of = (number: number, ...args: number[]) => decide(filter, processor.audit, number, args);

  it("refuses what it names, and allows all else", () => {
    const named = new Set(Object.values(processor.refused));
    const looked = [
      processor.clone,
      processor.clone3,
      processor.ioctl,
      processor.socket,
      processor.socketpair,
    ];
    for (let number = 0; number < 600; number++) {
      if (looked.includes(number)) continue;
      expect(of(number), `${name} ${number}`).toBe(named.has(number) ? refusedWith(1) : ALLOW);
    }
  });

  it("makes threads and processes, and no namespaces", () => {
    // What a C library gives to clone for a thread, and for a fork.
    expect(of(processor.clone, 0x3d0f00)).toBe(ALLOW);
    expect(of(processor.clone, 0x1200011)).toBe(ALLOW);
    for (const flag of [0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      expect(of(processor.clone, flag | 17)).toBe(refusedWith(1));
    expect(of(processor.clone3)).toBe(refusedWith(38));
  });

  it("knows which sockets are of use, and what types into a terminal", () => {
    for (const call of [processor.socket, processor.socketpair]) {
      for (let family = 0; family < 50; family++)
        expect(of(call, family, 1)).toBe([1, 2, 10, 16].includes(family) ? ALLOW : refusedWith(97));
    }
    expect(of(processor.ioctl, 0, 0x5412)).toBe(refusedWith(1));
    expect(of(processor.ioctl, 0, 0x541c)).toBe(refusedWith(1));
    expect(of(processor.ioctl, 0x5412, 0x5401)).toBe(ALLOW);
  });

  it("ends who speaks another processor's language", () => {
    expect(decide(filter, 0x40000003, 1)).toBe(KILL);
    if (processor.foreign !== undefined) expect(of(processor.foreign + 39)).toBe(refusedWith(1));
  });

  it("has the numbers that this machine's headers have, where it has them", () => {
    const headers =
      name === "x64" ? "/usr/include/x86_64-linux-gnu/asm/unistd_64.h" : "/usr/include/asm-generic/unistd.h";
    if (!existsSync(headers)) return;
    const text = readFileSync(headers, "utf8");
    const { clone, clone3, ioctl, socket, socketpair, refused } = processor;
    for (const [call, number] of Object.entries({ clone, clone3, ioctl, socket, socketpair, ...refused })) {
      const found = new RegExp(`^#define __NR(?:3264)?_${call} (\\d+)`, "m").exec(text)?.[1];
      if (found !== undefined) expect(Number(found), call).toBe(number);
    }
  });
});

describe("archives", () => {
  const path = fc
    .array(fc.stringMatching(/^[\w][\w .é-]{0,20}$/u), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join("/"))
    .filter((each) => plainPath(each) === each && Buffer.byteLength(each) <= 100);

  it("hold what was put into them", () => {
    fc.assert(
      fc.property(fc.dictionary(path, fc.uint8Array({ maxLength: 2000 })), (files) => {
        const read = readArchive(writeArchive(new Map(Object.entries(files))));
        expect(Object.fromEntries([...read].map(([name, content]) => [name, [...content]]))).toEqual(
          Object.fromEntries(Object.entries(files).map(([name, content]) => [name, [...content]])),
        );
      }),
    );
  });

  it.each(["gnu", "pax", "ustar"])("of tar are read: %s", (format) => {
    const folder = mkdtempSync(join(tmpdir(), "patchbay-archive-"));
    try {
      const long = `${"d".repeat(90)}/${"é".repeat(30)}.txt`;
      mkdirSync(join(folder, "d".repeat(90)));
      writeFileSync(join(folder, long), "long");
      writeFileSync(join(folder, "short"), "x".repeat(513));
      execFileSync("ln", ["-s", "/etc/passwd", join(folder, "link")]);
      const archive = execFileSync("tar", [`--format=${format}`, "-C", folder, "-cf", "-", "."]);
      const files = readArchive(archive);
      expect([...files.keys()].sort()).toEqual([long, "short"].sort());
      expect(files.get(long)?.toString()).toBe("long");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("lead nowhere else", () => {
    for (const name of ["../x", "/etc/passwd", "a/../../x", "..", ".", "", "a\u202eb", "a\nb"]) {
      expect(plainPath(name), name).toBeUndefined();
      expect([...readArchive(writeArchive(new Map([[name, Buffer.from("x")]]))).keys()]).toEqual([]);
    }
  });

  it("of nonsense are read as far as they make sense", () => {
    const good = writeArchive(
      new Map([
        ["a", Buffer.from("1")],
        ["b", Buffer.from("2")],
      ]),
    );
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length), (at, byte, end) => {
        const bad = Buffer.from(good);
        bad[at] = byte;
        for (const name of readArchive(bad.subarray(0, end)).keys()) expect(plainPath(name)).toBe(name);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => void readArchive(Buffer.from(bytes))),
    );
  });
});

describe("output", () => {
  it("is kept whole while it fits, in whatever pieces it comes", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 20 }), (pieces) => {
        const output = new KeptOutput(100_000);
        for (const byte of Buffer.from(pieces.join(""))) output.push(Buffer.from([byte]));
        expect(output.text).toBe(pieces.join(""));
        expect(output.truncated).toBe(false);
      }),
    );
  });

  it("is its beginning and its end where it does not, and is told no further than it is kept", () => {
    let told = "";
    const output = new KeptOutput(10, (text) => {
      told += text;
    });
    const all = "abcdefghijklmnopqrstuvwxyz".repeat(50);
    for (let at = 0; at < all.length; at += 7) output.push(Buffer.from(all.slice(at, at + 7)));
    expect(output.text).toBe("abcde\n[… 1290 bytes were left out: maxOutputBytes is 10 …]\nvwxyz");
    expect(output.truncated).toBe(true);
    expect(told).toBe("abcdefghij");
  });

  it("ends at its mark, in whatever pieces that comes", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(5), (one, two, size) => {
        const stream = new MarkedStream();
        const text = `${one}\0mark1\0${two}\0mark2\0`;
        const parts: string[] = [];
        let part = "";
        const onChunk = (chunk: Buffer) => {
          part += chunk.toString("latin1");
        };
        const expectMark = (mark: string) => {
          stream.expect(mark, onChunk, () => {
            parts.push(part);
            part = "";
          });
        };
        expectMark("\0mark1\0");
        const bytes = Buffer.from(text, "utf8");
        const first = bytes.indexOf("\0mark1\0") + 7;
        for (let at = 0; at < first; at += size + 1)
          stream.push(bytes.subarray(at, Math.min(first, at + size + 1)));
        expectMark("\0mark2\0");
        for (let at = first; at < bytes.length; at += size + 1)
          stream.push(bytes.subarray(at, at + size + 1));
        expect(parts).toEqual([one, two].map((each) => Buffer.from(each).toString("latin1")));
      }),
    );
  });
});

describe("memory", () => {
  let mount: string;
  beforeEach(() => {
    mount = mkdtempSync(join(tmpdir(), "patchbay-groups-"));
  });
  afterEach(() => rmSync(mount, { recursive: true }));

  const group = (path: string, files: Record<string, string>) => {
    mkdirSync(join(mount, path), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(mount, path, name), text);
  };

  it("is bound nowhere where no group may be made", () => {
    group("", { "cgroup.subtree_control": "cpu pids\n" });
    expect(findMemoryGroups(mount, "0::/user.slice\n")).toBeUndefined();
    expect(findMemoryGroups(mount, "4:memory:/a\n3:cpu:/\n")).toBeUndefined();
    expect(findMemoryGroups(join(mount, "none"), "0::/\n")).toBeUndefined();
    expect(findMemoryGroups(mount, "")).toBeUndefined();
  });

  it("is bound by a group of version 2 as version 2 has it", () => {
    const made = makeMemoryGroup({ version: 2, parent: mount }, 1000);
    const folder = join(made.join, "..");
    const read = (name: string) => readFileSync(join(folder, name), "utf8");
    expect([read("memory.max"), read("memory.swap.max"), read("memory.oom.group")]).toEqual([
      "1000",
      "0",
      "1",
    ]);
    expect(made.ranOut()).toBe(false);
    writeFileSync(join(folder, "memory.events"), "low 0\noom 1\noom_kill 2\noom_group_kill 1\n");
    expect(made.ranOut()).toBe(true);
  });

  it("is looked at with what came of a process", () => {
    expect(memoryOf(process.pid)).toBeGreaterThan(10_000_000);
    expect(memoryOf(2 ** 30)).toBe(0);
  });

  it("has limits that name themselves", () => {
    expect(() => sandboxLimits({ maxProcesses: 0 })).toThrow(
      "maxProcesses must be a positive whole number, not 0",
    );
    expect(sandboxLimits({ maxTimeout: 5 }).timeout).toBe(5);
  });
});
