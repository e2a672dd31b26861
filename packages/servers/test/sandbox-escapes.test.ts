/**
 * Ways out of the sandbox: each is tried in it, where it fails, and, where that can be done without harm, in a sandbox
 * without the defence in question, where it succeeds.
 */

import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { launch } from "../src/sandbox/launch.ts";
import { openSandbox, type Sandbox } from "../src/sandbox/open.ts";
import { type Outcome, type RunRequest, run } from "../src/sandbox/run.ts";

const MEBIBYTE = 1024 * 1024;
const CANARY = `canary-${randomBytes(8).toString("hex")}`;
/** The namespaces that --unshare-all makes. */
const NAMESPACES = ["user", "ipc", "pid", "net", "uts", "cgroup-try"];
const isRoot = process.getuid?.() === 0;

let sandbox: Sandbox;
let folder: string;
let port: number;
const servers: Server[] = [];

async function listen(address: object): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}).end("reached\n"));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(address, resolve));
  return server;
}

function bash(script: string, box = sandbox, more: Partial<RunRequest> = {}): Promise<Outcome> {
  const signal = new AbortController().signal;
  return run(box, { command: ["bash", "-c", script], timeout: 15, signal, ...more });
}

/** Python's own words for what a system call gave: `ok`, or the name of the error. */
function python(...attempts: string[]): string {
  const tries = attempts.map((each) => `attempt(lambda: ${each})`).join("\n");
  return `python3 - <<'END'
import ctypes, errno, fcntl, os, signal, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    if libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args]) == -1:
        raise OSError(ctypes.get_errno(), "")
def attempt(what):
    try:
        what()
        print("ok")
    except OSError as error:
        print(errno.errorcode.get(error.errno, error))
${tries}
END`;
}

/** The sandbox with some words of its command line replaced by others. */
function instead(words: string[], others: string[], of = sandbox): Sandbox {
  const at = of.prefix.findIndex((_, index) =>
    words.every((word, offset) => of.prefix[index + offset] === word),
  );
  if (at === -1) throw new Error(`the sandbox has no ${words.join(" ")}`);
  return { ...of, prefix: [...of.prefix.slice(0, at), ...others, ...of.prefix.slice(at + words.length)] };
}

const without = (words: string[], of?: Sandbox) => instead(words, [], of);
const sharing = (namespace: string, of?: Sandbox) => {
  const unshared = NAMESPACES.filter((each) => each !== namespace).map((each) => `--unshare-${each}`);
  return instead(["--unshare-all"], unshared, of);
};
const unfiltered = (of?: Sandbox) => without(["--seccomp", "3"], of);

/** Processes of this machine whose command line holds a text. */
function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

needs("bwrap", "python3")("out of the sandbox", () => {
  beforeAll(async () => {
    vi.stubEnv("PATCHBAY_TEST_SECRET", CANARY);
    folder = mkdtempSync(join(tmpdir(), "patchbay-escapes-"));
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, "secret"), `${CANARY}\n`);
    port = ((await listen({ port: 0, host: "127.0.0.1" })).address() as AddressInfo).port;
    await listen({ path: `\0${CANARY}` });
    const opened = await openSandbox({
      maxProcesses: 24,
      maxFolderBytes: MEBIBYTE,
      maxFileBytes: 2 * MEBIBYTE,
    });
    if ("unavailable" in opened) throw new Error(opened.unavailable);
    sandbox = opened;
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    if (folder !== undefined) rmSync(folder, { recursive: true });
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  });

  describe("reading", () => {
    it("sees no file of the machine but programs", async () => {
      const secrets = `${folder}/secret`;
      const { stdout } = await bash(
        `ls /; cat ${secrets} /etc/group /etc/shadow; ls /home /root /sys /var /run`,
      );
      const there = /^(bin|box|dev|etc|interpreters|lib|lib32|lib64|libx32|proc|sbin|tmp|usr)$/;
      expect(
        stdout
          .trim()
          .split("\n")
          .filter((name) => !there.test(name)),
      ).toEqual([]);
      expect((await bash("cat /etc/passwd")).stdout).toMatch(/^sandbox:x:\d+:\d+::\/box:\/bin\/bash\n$/);
      const bound = instead(["--proc"], ["--ro-bind", folder, folder, "--proc"]);
      expect(
        (
          await bash(
            `cat ${secrets}`,
            instead(["--size", String(32 * MEBIBYTE), "--tmpfs", "/tmp"], [], bound),
          )
        ).stdout,
      ).toContain(CANARY);
    });

    it("sees nothing of the server's environment", async () => {
      const script = `env; cat /proc/*/environ`;
      expect((await bash(script)).stdout).not.toContain(CANARY);
      const open = { ...sandbox, environment: { PATCHBAY_TEST_SECRET: CANARY } };
      // `env -i` would not help: the first process of the sandbox has what bubblewrap was given.
      expect((await bash("env -i cat /proc/1/environ", open)).stdout).toContain(CANARY);
    });

    it("sees no process of the machine, and nothing of it by way of /proc", async () => {
      const script = `ls -d /proc/${process.pid}; cat /proc/1/root/${folder}/secret; echo 1 >/proc/sys/kernel/printk; echo b >/proc/sysrq-trigger; ls /proc | grep -c '^[0-9]'`;
      const { stdout, stderr } = await bash(script);
      expect(Number(stdout)).toBeLessThan(8);
      expect(stderr.match(/No such file|Permission denied|Read-only file system/g)).toHaveLength(4);
      const shared = instead(["--proc", "/proc"], ["--ro-bind", "/proc", "/proc"], sharing("pid"));
      expect((await bash(`ls -d /proc/${process.pid}`, shared)).stdout).toContain(`/proc/${process.pid}`);
    });

    it("has none of our open files", async () => {
      const { stdout, ...rest } = await bash("ls -l /proc/self/fd");
      expect(rest).toMatchObject({ returncode: 0, stderr: "" });
      const open = [...stdout.matchAll(/ (\d+) -> (\S+)/g)].map(
        ([, fd, file]) => `${fd} ${file?.replace(/\[.*/, "")}`,
      );
      expect(open.filter((each) => !/^3 \/proc/.test(each))).toEqual([
        "0 /dev/null",
        "1 socket:",
        "2 socket:",
      ]);
    });
  });

  describe("the network", () => {
    it("reaches neither a network nor a server on loopback", async () => {
      const script = `tail -n +3 /proc/net/dev | cut -d: -f1; cat </dev/tcp/127.0.0.1/${port}`;
      const { stdout, stderr } = await bash(script);
      expect(stdout.trim()).toBe("lo");
      expect(stderr).toContain("Connection refused");
      expect((await bash(script, sharing("net"))).stdout).toContain("reached");
    });

    it("reaches no abstract socket", async () => {
      // Some versions of Node fill the name up.
      const names = [`"\\0${CANARY}"`, `"\\0${CANARY}".ljust(108, "\\0")`];
      const connect = python(...names.map((name) => `socket.socket(socket.AF_UNIX).connect(${name})`));
      expect((await bash(connect)).stdout).toBe("ECONNREFUSED\nECONNREFUSED\n");
      expect((await bash(connect, sharing("net"))).stdout).toContain("ok\n");
    });

    it("makes no socket that a network namespace does not hold: vsock, and what else nobody needs", async () => {
      const open = python(
        "socket.socket(40, 1)",
        "socket.socket(17, 3)",
        "socket.socket(38, 5)",
        "socket.socket(2, 1)",
      );
      expect((await bash(open)).stdout).toBe("EAFNOSUPPORT\nEAFNOSUPPORT\nEAFNOSUPPORT\nok\n");
      // Packet sockets are refused for want of a capability; the others for nothing but the filter.
      const { stdout } = await bash(open, unfiltered());
      expect(stdout.split("\n").slice(1)).toEqual([
        "EPERM",
        expect.stringMatching(/ok|EAFNOSUPPORT/),
        "ok",
        "",
      ]);
    });
  });

  describe("writing", () => {
    it("writes nowhere but to its folder, /tmp and /dev/shm", async () => {
      const script =
        "for f in /x /usr/x /usr/bin/x /etc/x /dev/x /proc/x /bin/x; do touch $f && echo $f; done; touch /box/x /tmp/x /dev/shm/x && echo fine";
      expect((await bash(script)).stdout).toBe("fine\n");
      expect((await bash(script, without(["--remount-ro", "/"]))).stdout).toContain("/x\n");
      expect((await bash(script, without(["--remount-ro", "/dev"]))).stdout).toContain("/dev/x\n");
    });

    it("makes nothing writable by mounting it again", async () => {
      const script = `mount -o remount,bind,rw /usr; mount -t tmpfs none /tmp; grep ' /usr ' /proc/mounts; grep Cap /proc/self/status`;
      const { stdout } = await bash(script);
      expect(stdout).toMatch(/ \/usr \S+ ro,/);
      expect(stdout).toMatch(/CapEff:\t0{16}\nCapBnd:\t0{16}/);
      if (!isRoot) return;
      const begin = sandbox.prefix.indexOf("bwrap");
      const root = { ...sandbox, prefix: sandbox.prefix.slice(begin) };
      const loose = without(["--cap-drop", "ALL"], without(["--disable-userns"], unfiltered(root)));
      // The mount only: nothing is written.
      expect((await bash(script, loose)).stdout).toMatch(/ \/usr \S+ rw,/);
    });

    it("makes no user namespace in which it would be root", async () => {
      const script = "unshare --user --map-root-user id -u";
      expect((await bash(script)).stdout).toBe("");
      // Either defence is enough.
      expect((await bash(script, unfiltered())).stdout).toBe("");
      expect((await bash(script, without(["--disable-userns"]))).stdout).toBe("");
      expect((await bash(script, without(["--disable-userns"], unfiltered()))).stdout).toBe("0\n");
    });

    it("gains nothing by programs that change the user", async () => {
      const { stdout } = await bash(
        "grep NoNewPrivs /proc/self/status; cp /usr/bin/id /box && chmod 4755 /box/id && /box/id -u",
      );
      expect(stdout).toMatch(/^NoNewPrivs:\t1\n(?!0\n)\d+\n$/);
    });
  });

  describe("taking all there is", () => {
    it("has so many processes: a fork bomb", async () => {
      const script = python("[os.fork() or signal.pause() for _ in range(40)]");
      expect((await bash(script)).stdout).toBe("EAGAIN\n");
      const unbounded = without(["--nproc=24"]);
      expect((await bash(script, unbounded)).stdout).toBe("ok\n");
    });

    it("has so much memory, in one process or in many: a memory bomb", async () => {
      const children = `python3 - <<'END'
import os, signal
pids = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        x = bytearray(40 << 20)
        signal.pause()
    pids.append(pid)
os.wait()
print("one was ended")
END`;
      const bound = (of: Sandbox): Sandbox => ({
        ...of,
        limits: { ...of.limits, maxMemoryBytes: 96 * MEBIBYTE },
      });
      const reserve = await bash(`python3 -c 'x = bytearray(8 << 30)'`);
      expect(reserve.stderr).toContain("MemoryError");
      const one = await bash(`exec python3 -c 'x = b"x" * (200 << 20)'`, bound(sandbox));
      expect(one).toMatchObject({
        returncode: 137,
        stderr: expect.stringContaining("maxMemoryBytes (100663296)"),
      });
      const many = await bash(children, bound(sandbox));
      expect(many.stderr).toContain("maxMemoryBytes (100663296)");
      // Where there is no control group the memory is watched, and all is ended.
      const watched = await bash(children, bound({ ...sandbox, groups: undefined }));
      expect(watched).toMatchObject({ returncode: 137, stdout: "" });
      expect(watched.stderr).toContain("maxMemoryBytes (100663296)");
      expect(await bash(children, sandbox, { timeout: 1 })).toMatchObject({ returncode: 124, stdout: "" });
    });

    it("has no memory that belongs to no process, where nobody would see it", async () => {
      const attempts = python(
        'os.memfd_create("x")',
        "call({ 'x86_64': 29 }.get(os.uname().machine, 194), 0, 4096, 0o1600)",
      );
      expect((await bash(attempts)).stdout).toBe("EPERM\nEPERM\n");
      expect((await bash(attempts, unfiltered())).stdout).toBe("ok\nok\n");
    });

    it("has so much room for files, and they for bytes: a full disk", async () => {
      const script = `for f in /box/x /dev/shm/x /tmp/x; do for i in 1 2 3 4 5 6 7 8 9; do head -c 5M /dev/zero >>$f; done; stat -c %s $f; done; head -c 3M /dev/zero >/tmp/y; stat -c %s /tmp/y`;
      const { stdout } = await bash(script);
      const sizes = stdout.trim().split("\n").map(Number);
      // The folder holds less than a file may have; no file has more.
      expect(sizes).toEqual([MEBIBYTE, 2 * MEBIBYTE, 2 * MEBIBYTE, 2 * MEBIBYTE]);
      const loose = without([`--fsize=${2 * MEBIBYTE}`], without(["--size", String(MEBIBYTE)]));
      const grown = (await bash(script, loose)).stdout.trim().split("\n").map(Number);
      expect(grown).toEqual([45 * MEBIBYTE, 16 * MEBIBYTE, 32 * MEBIBYTE, expect.any(Number)]);
    });

    it("is kept of so much output, and still runs: a flood", async () => {
      const small = { ...sandbox, limits: { ...sandbox.limits, maxOutputBytes: 1000 } };
      const flood = "yes | head -c 20M; echo end; yes | head -c 5M >&2";
      const { returncode, stdout, stderr, truncated } = await bash(flood, small);
      expect({ returncode, truncated }).toEqual({ returncode: 0, truncated: true });
      expect(stdout).toMatch(/^(y\n){250}\n\[… 20970524 bytes were left out.*\](\ny)+\nend\n$/);
      expect(stderr.length).toBeLessThan(1200);
    });

    it("takes so long: a loop", async () => {
      expect(await bash("while :; do :; done", sandbox, { timeout: 0.2 })).toMatchObject({ returncode: 124 });
      // It ignores what can be ignored.
      const stubborn = `trap '' TERM INT HUP; python3 -c 'import signal,time
for s in range(1, 32):
  try: signal.signal(s, signal.SIG_IGN)
  except OSError: pass
while True: time.sleep(1)'`;
      expect(await bash(stubborn, sandbox, { timeout: 0.5 })).toMatchObject({ returncode: 124 });
    });
  });

  describe("living on", () => {
    const stay = (seconds: string) =>
      `setsid -f sleep ${seconds} </dev/null >/dev/null 2>&1; (nohup sleep ${seconds} &) >/dev/null 2>&1; disown -a`;

    it("leaves no process behind", async () => {
      const seconds = `300.${Date.now()}1`;
      await bash(stay(seconds));
      await vi.waitFor(() => expect(processesWith(seconds)).toEqual([]), { timeout: 10_000 });
      const left = `300.${Date.now()}2`;
      await bash(stay(left), sharing("pid"));
      const survivors = processesWith(left);
      for (const pid of survivors) process.kill(pid, "SIGKILL");
      expect(survivors).not.toEqual([]);
    });

    it("is ended, with all that came of it, when its call is cancelled", async () => {
      const seconds = `300.${Date.now()}3`;
      const cancel = new AbortController();
      const running = bash(`${stay(seconds)}; echo started; sleep ${seconds}`, sandbox, {
        signal: cancel.signal,
        onText: () => cancel.abort(new Error("enough")),
      });
      await expect(running).rejects.toThrow("enough");
      await vi.waitFor(() => expect(processesWith(seconds)).toEqual([]), { timeout: 10_000 });
    });

    it("is ended when it is cancelled before it has begun", async () => {
      const seconds = `300.${Date.now()}4`;
      for (let turn = 0; turn < 5; turn++) {
        const cancel = new AbortController();
        const running = bash(`sleep ${seconds}`, sandbox, { signal: cancel.signal });
        void setImmediate().then(() => cancel.abort(new Error("enough")));
        await expect(running).rejects.toThrow("enough");
      }
      await vi.waitFor(() => expect(processesWith(seconds)).toEqual([]), { timeout: 10_000 });
    });
  });

  it("is ended though a part of it has left our process group, and does not yet die with the rest", async () => {
    // As bubblewrap is for a moment of its start.
    const split = { ...sandbox, groups: undefined, prefix: ["sh", "-c", 'setsid "$@" & wait', "sh"] };
    const { stdout, end, ended } = await launch(split, ["sh", "-c", "echo begun; exec sleep 300"]);
    await once(stdout, "data");
    end();
    await ended;
  });

  describe("turning on us", () => {
    it("sends no signal to who started it, or to anybody else", async () => {
      const script = `kill -0 ${process.pid}; kill -0 ${process.ppid}`;
      expect((await bash(script)).stderr.match(/No such process/g)).toHaveLength(2);
      expect((await bash("kill -9 -1")).returncode).not.toBe(0);
      expect((await bash(script, sharing("pid"))).stderr).not.toContain("No such process");
    });

    it("traces nothing, loads nothing, and types into no terminal", async () => {
      const { x64, arm64 } = {
        x64: [101, 321, 425, 250, 323, 272, 298],
        arm64: [117, 280, 425, 219, 282, 97, 241],
      };
      const numbers = process.arch === "arm64" ? arm64 : x64;
      const script = python(
        ...numbers.map((number) => `call(${number}, 0, 0, 0, 0)`),
        'fcntl.ioctl(0, 0x5412, b"x")',
      );
      expect((await bash(script)).stdout).toBe("EPERM\n".repeat(8));
      const lines = (await bash(script, unfiltered())).stdout.split("\n");
      expect(lines[0]).toBe("ok");
      expect(lines[7]).toBe("ENOTTY");
    });

    it("sees no file of another call, not even of one that runs at the same time", async () => {
      const cancel = new AbortController();
      let look: Promise<Outcome> | undefined;
      const first = bash("touch /box/mine /tmp/mine /dev/shm/mine; echo made; sleep 60", sandbox, {
        signal: cancel.signal,
        onText: () => {
          look ??= bash("ls -A /box /tmp /dev/shm").finally(() => cancel.abort(new Error("seen")));
        },
      });
      await expect(first).rejects.toThrow("seen");
      expect((await look)?.stdout).not.toContain("mine");
    });

    it("says by its exit code and its archive what it likes, and breaks nothing by it", async () => {
      const chunks: Buffer[] = [];
      const files = {
        before: undefined,
        after: (chunk: Buffer) => void chunks.push(chunk),
        maxBytes: 10_000,
      };
      // Its parent is the attendant, which has the pipe.
      const forge = `cat /proc/$PPID/cmdline >/dev/null; for p in /proc/[0-9]*; do head -c 100K /dev/zero >$p/fd/4; done 2>/dev/null; echo done`;
      const outcome = await bash(forge, sandbox, { files });
      expect(outcome.filesKept).toBe(false);
      expect(Buffer.concat(chunks).length).toBeLessThanOrEqual(10_000);
    });
  });
});
