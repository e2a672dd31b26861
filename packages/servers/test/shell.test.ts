/** The shell server: what a command gives back, the folders that are kept, and what is said where there is no sandbox. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, connect } from "@patchbay/client";
import type { Progress } from "@patchbay/core";
import type { McpServer } from "@patchbay/server";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { fault, openSandbox } from "../src/sandbox/open.ts";
import { createShell } from "../src/shell/index.ts";
import { serveUsers } from "./users.ts";

interface Shown {
  returncode: number;
  stdout: string;
  stderr: string;
  truncated: boolean;
}

needs("bwrap")("bash", () => {
  let client: Client;
  let server: McpServer;
  let root: string;

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "patchbay-shell-"));
    server = await createShell({
      folders: join(root, "folders"),
      maxFolders: 3,
      maxTimeout: 20,
      maxOutputBytes: 1000,
    });
    client = await connect(server);
  });
  afterAll(async () => {
    await client?.close();
    rmSync(root, { recursive: true, force: true });
  });

  async function bash(command: string, more: object = {}, through = client): Promise<Shown> {
    const result = await through.callTool("bash", { command, ...more });
    if (result.structuredContent === undefined) throw new Error(JSON.stringify(result.content));
    return result.structuredContent as unknown as Shown;
  }

  async function failure(tool: string, args: object, through = client): Promise<string> {
    const { isError, content } = await through.callTool(tool, args as Record<string, unknown>);
    expect(isError).toBe(true);
    return content[0]?.type === "text" ? content[0].text : "";
  }

  it.each([
    ["echo out; echo err >&2", { returncode: 0, stdout: "out\n", stderr: "err\n" }],
    ["exit 7", { returncode: 7, stdout: "", stderr: "" }],
    ["", { returncode: 1, stdout: "", stderr: "the command is empty\n" }],
    [" \n\t", { returncode: 1, stdout: "", stderr: "the command is empty\n" }],
    [
      "no-such-program",
      { returncode: 127, stdout: "", stderr: "bash: line 1: no-such-program: command not found\n" },
    ],
    ["kill -SEGV $$", { returncode: 139, stdout: "", stderr: "" }],
    ["cat", { returncode: 0, stdout: "", stderr: "" }],
    ["printf 'ü\\xff'", { returncode: 0, stdout: "ü\uFFFD", stderr: "" }],
    ["cat <<'END'\n$(one)\n`two`\nEND", { returncode: 0, stdout: "$(one)\n`two`\n", stderr: "" }],
    [
      "pwd; echo ~; hostname; whoami",
      { returncode: 0, stdout: "/box\n/box\nsandbox\nsandbox\n", stderr: "" },
    ],
  ])("%j", async (command, expected) => {
    expect(await bash(command)).toEqual({ ...expected, truncated: false });
  });

  it("says 124 of a command that takes too long, and what it wrote until then", async () => {
    expect(await bash("echo begun; sleep 60", { timeout: 1 })).toEqual({
      returncode: 124,
      stdout: "begun\n",
      stderr: "[sandbox: it took longer than its timeout of 1 s, and was ended]\n",
      truncated: false,
    });
    expect(await failure("bash", { command: "true", timeout: 21 })).toContain("timeout");
  });

  it("keeps the beginning and the end of much output", async () => {
    const { stdout, truncated } = await bash("seq 100000");
    expect(truncated).toBe(true);
    expect(stdout).toMatch(
      /^1\n2\n(?:\d*\n)*\[… 587895 bytes were left out: maxOutputBytes is 1000 …\]\n(?:\d*\n)*100000\n$/,
    );
  });

  it("tells what is written while it runs, as progress", async () => {
    const told: Progress[] = [];
    await client.callTool(
      "bash",
      { command: "echo one; sleep 0.3; echo two >&2", timeout: 15 },
      { onProgress: (each) => void told.push(each) },
    );
    expect(told.flatMap(({ message = [] }) => message)).toEqual(["one\n", "two\n"]);
    expect(told.every(({ progress, total }) => progress > 0 && total === 15)).toBe(true);
  });

  it("runs no more at once than it may", async () => {
    const small = await connect(await createShell({ maxRunning: 1 }));
    const first = new AbortController();
    const begun = new Promise<void>((resolve) => {
      const told = { signal: first.signal, onProgress: () => resolve() };
      small.callTool("bash", { command: "echo; sleep 60" }, told).catch(() => {});
    });
    await begun;
    expect(await failure("bash", { command: "true" }, small)).toBe(
      "as many commands run as maxRunning allows (1); try again when one has ended",
    );
    first.abort();
    await vi.waitFor(async () =>
      expect(await bash("echo free", {}, small)).toMatchObject({ stdout: "free\n" }),
    );
    await small.close();
  });

  it("takes no command that Linux would not", async () => {
    expect(await failure("bash", { command: "x".repeat(120_001) })).toContain("at most 120000 bytes");
    expect(await failure("bash", { command: "a\0b" })).toContain("NUL");
  });

  it.each([
    ["timeout", 0],
    ["maxMemoryBytes", 1.5],
    ["maxRunning", -1],
    ["maxFolders", Number.NaN],
  ])("refuses %s: %d", async (name, value) => {
    await expect(async () => createShell({ [name]: value, folders: join(root, "folders") })).rejects.toThrow(
      name,
    );
  });

  describe("folders that are kept", () => {
    async function open(through = client): Promise<string> {
      const { structuredContent } = await through.callTool("open_folder");
      return (structuredContent as { folder: string }).folder;
    }

    it("hold what commands leave in them, whatever it is, and are read as resources", async () => {
      const folder = await open();
      const long = `${"long-".repeat(30)}name.txt`;
      await bash(
        `mkdir sub; echo text >sub/a.txt; echo l >${long}; printf '\\0\\1' >b.bin; ln -s /etc/passwd link; ln sub/a.txt hard; mkfifo pipe; chmod 500 sub`,
        { folder },
      );
      const { stdout } = await bash("cat sub/a.txt; stat -c '%A %N' *", { folder });
      expect(stdout).toContain("text\n");
      expect(stdout).toContain("'link' -> '/etc/passwd'");
      expect(stdout).toContain("prw-r--r-- 'pipe'");
      const read = async (path: string) =>
        (await client.readResource(`shell://folders/${folder}/${path}`)).contents[0];
      expect(await read("sub/a.txt")).toMatchObject({ mimeType: "text/plain", text: "text\n" });
      expect(await read(long)).toMatchObject({ text: "l\n" });
      expect(await read("b.bin")).toMatchObject({ mimeType: "application/octet-stream", blob: "AAE=" });
      expect(await read("hard")).toMatchObject({ text: "text\n" });
      for (const path of ["link", "pipe", "sub", "../x", "none"])
        await expect(read(path)).rejects.toThrow("not found");
      await client.callTool("delete_folder", { folder });
      expect(await failure("bash", { command: "ls", folder })).toContain("there is no folder");
    });

    it("keep what was there when a command took too long, too", async () => {
      const folder = await open();
      expect(await bash("echo kept >file; sleep 60 & sleep 60", { folder, timeout: 1 })).toMatchObject({
        returncode: 124,
      });
      expect(await bash("cat file", { folder })).toMatchObject({ stdout: "kept\n" });
      await client.callTool("delete_folder", { folder });
    });

    it("are left as they were by a command that is cancelled", async () => {
      const folder = await open();
      await bash("echo one >file", { folder });
      const cancel = new AbortController();
      const running = client.callTool(
        "bash",
        { command: "echo two >file; echo; sleep 60", folder },
        { signal: cancel.signal, onProgress: () => cancel.abort() },
      );
      await expect(running).rejects.toThrow();
      expect(await bash("cat file", { folder })).toMatchObject({ stdout: "one\n" });
      expect(readdirSync(join(root, "folders")).filter((name) => name.endsWith(".next"))).toEqual([]);
      await client.callTool("delete_folder", { folder });
    });

    it("serve one command at a time", async () => {
      const folder = await open();
      const add = "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) >n";
      await Promise.all([1, 2, 3].map(() => bash(add, { folder })));
      expect(await bash("cat n", { folder })).toMatchObject({ stdout: "3\n" });
      await client.callTool("delete_folder", { folder });
    });

    it("are so many, and go when nobody uses them", async () => {
      const folders = [await open(), await open(), await open()];
      expect(await failure("open_folder", {})).toBe(
        "there are as many folders as maxFolders allows (3); delete one",
      );
      for (const name of readdirSync(join(root, "folders"))) utimesSync(join(root, "folders", name), 0, 0);
      const folder = await open();
      expect(readdirSync(join(root, "folders"))).toHaveLength(1);
      expect(await failure("bash", { command: "ls", folder: folders[0] })).toContain("there is no folder");
      await client.callTool("delete_folder", { folder });
    });

    it("are whose made them: nobody else finds them", async () => {
      const users = await serveUsers(server, ["ada", "eve"]);
      const [ada, eve] = users.clients as [Client, Client];
      const folder = await open(ada);
      await bash("echo secret >file", { folder }, ada);
      for (const other of [eve, client]) {
        expect(await failure("bash", { command: "cat file", folder }, other)).toContain("there is no folder");
        expect(await failure("delete_folder", { folder }, other)).toContain("there is no folder");
        await expect(other.readResource(`shell://folders/${folder}/file`)).rejects.toThrow("not found");
      }
      expect(await bash("cat file", { folder }, ada)).toMatchObject({ stdout: "secret\n" });
      await ada.callTool("delete_folder", { folder });
      await users.close();
    });

    it("take no handle that is a path", async () => {
      for (const folder of ["../x", "folder-", "/etc", "folder-../../etc"])
        expect(await failure("bash", { command: "ls", folder })).toContain("there is no folder");
    });
  });

  it("leaves nothing behind when the server is killed", async () => {
    const seconds = `300.${Date.now()}`;
    const script = `
      import { connect } from "@patchbay/client";
      import { createShell } from "@patchbay/servers/shell";
      const client = await connect(await createShell());
      const command = "setsid -f sleep ${seconds}; echo begun; sleep ${seconds}";
      await client.callTool("bash", { command }, { onProgress: () => console.log("begun") });`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    expect(commandLines().filter((line) => line.includes(`sleep\0${seconds}`)).length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "exit");
    await vi.waitFor(
      () => expect(commandLines().filter((line) => line.includes(seconds))).toEqual([]),
      10_000,
    );
  });

  it("hands on nothing that the server itself was started with", async () => {
    const script = `
      import { connect } from "@patchbay/client";
      import { createShell } from "@patchbay/servers/shell";
      const client = await connect(await createShell());
      const { structuredContent } = await client.callTool("bash", { command: "ls /proc/self/fd" });
      console.log(structuredContent.stdout.trim().split("\\n").join(" "));
      process.exit();`;
    const start = 'exec 200</etc/hostname; exec "$0" --input-type=module -e "$1"';
    const child = spawn("bash", ["-c", start, process.execPath, script], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = await once(child.stdout, "data");
    expect(String(printed)).toBe("0 1 2 3\n");
    await once(child, "exit");
  });

  it("says what is wrong with a sandbox", async () => {
    const sandbox = await openSandbox({});
    if ("unavailable" in sandbox) throw new Error(sandbox.unavailable);
    const { prefix } = sandbox;
    const swap = (word: string, other: string) => ({
      ...sandbox,
      prefix: prefix.map((each) => (each === word ? other : each)),
    });
    const direct = { ...swap("bwrap", "no-bwrap"), groups: undefined };
    expect(await fault({ ...direct, prefix: direct.prefix.slice(direct.prefix.indexOf("no-bwrap")) })).toBe(
      "no-bwrap is not installed",
    );
    expect(await fault(swap("--disable-userns", "--no-such-flag"))).toBe("Unknown option --no-such-flag");
    expect(await fault(swap("prlimit", "no-prlimit"))).toContain("no-prlimit");
    expect(await fault(sandbox)).toBeUndefined();
  });
});

describe("where there is no sandbox", () => {
  const platform = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
  afterAll(() => {
    Object.defineProperty(process, "platform", platform);
    vi.restoreAllMocks();
  });

  it("offers nothing, and says why: to the operator, to the client, and to who calls", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    Object.defineProperty(process, "platform", { ...platform, value: "darwin" });
    const client = await connect(await createShell());
    Object.defineProperty(process, "platform", platform);
    const why =
      "sandbox unavailable: bubblewrap is for Linux, and this is darwin; install bubblewrap or allow user namespaces";
    expect(told.mock.calls).toEqual([[`[shell] ${why}`]]);
    expect(await client.listTools()).toEqual([]);
    expect(client.instructions).toBe(why);
    await expect(client.callTool("bash", { command: "true" })).rejects.toThrow(why);
    await expect(client.callTool("other")).rejects.toThrow("Unknown tool");
    await client.close();
  });

  it("does without where its operator says so, and warns each time", async () => {
    const told = vi.spyOn(console, "error").mockImplementation(() => {});
    vi.stubEnv("PATCHBAY_TEST_SECRET", "secret");
    const client = await connect(await createShell({ unsafeNoSandbox: true, maxTimeout: 10 }));
    expect(told).toHaveBeenCalledWith(
      expect.stringContaining("[shell] --unsafe-no-sandbox: commands run WITHOUT"),
    );
    const [bash] = await client.listTools();
    expect(client.instructions).toContain("NO sandbox");
    expect(bash?.description).not.toContain("sandbox");
    expect(bash?.annotations).toMatchObject({ destructiveHint: true, openWorldHint: true });
    expect(JSON.stringify(bash?.inputSchema)).not.toMatch(/unsafe/i);
    const call = async (command: string, timeout = 10) =>
      (await client.callTool("bash", { command, timeout })).structuredContent as unknown as Shown;
    const { stdout } = await call(`pwd; env; ls -A; kill -0 ${process.pid} && echo reached`);
    expect(stdout).toMatch(new RegExp(`^${tmpdir()}/patchbay-`));
    expect(stdout).toContain("reached");
    expect(stdout).not.toContain("secret");
    expect(await call("sleep 60 & sleep 60", 0.3)).toMatchObject({ returncode: 124 });
    expect(await call("no-such-program")).toMatchObject({ returncode: 127 });
    await client.close();
    vi.unstubAllEnvs();
  });
});

function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
}
