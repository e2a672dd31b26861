/** What goes wrong around a command: no descriptors left, no control group, what may not be removed, what is in the way. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { connect } from "@patchbay/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needs } from "../../../scripts/test/needs.ts";
import { createCode } from "../src/code/index.ts";
import { readArchive, writeArchive } from "../src/sandbox/archive.ts";
import { openSandbox } from "../src/sandbox/open.ts";
import { run } from "../src/sandbox/run.ts";
import { Folders } from "../src/shell/folders.ts";
import { createShell } from "../src/shell/index.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "patchbay-trouble-"));
});
afterAll(() => rmSync(root, { recursive: true }));

const signal = new AbortController().signal;
const UNSAFE = { unsafeNoSandbox: true, warn: () => {} };

/** What a program of its own prints. */
async function printed(script: string): Promise<string> {
  const args = ["--input-type=module", "-e", script];
  return (await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })).stdout;
}

describe("a server", () => {
  it("that has no descriptors left says so, and lives on", async () => {
    const script = `
      import { closeSync, openSync } from "node:fs";
      import { connect } from "@patchbay/client";
      import { createShell } from "@patchbay/servers/shell";
      const client = await connect(await createShell({ unsafeNoSandbox: true, warn() {} }));
      const bash = () => client.callTool("bash", { command: "echo well" });
      await bash();
      const open = [];
      try { for (;;) open.push(openSync("/dev/null")); } catch {}
      const results = [];
      // With a few more it fails elsewhere.
      for (let few = 0; few < 12; few++) {
        results.push(...(await Promise.all([bash(), bash()])));
        closeSync(open.pop());
      }
      for (const fd of open) closeSync(fd);
      const [failed] = results.filter(({ isError }) => isError);
      console.log(failed.content[0].text);
      console.log((await bash()).structuredContent.stdout);
      process.exit();`;
    const limited = ["-c", 'ulimit -n 100; exec "$0" --input-type=module -e "$1"', process.execPath, script];
    const { stdout } = await promisify(execFile)("bash", limited, { cwd: import.meta.dirname });
    expect(stdout).toMatch(/too many files and connections open \(EMFILE\); try again later\nwell\n/);
  });

  it("that may not remove what a command left lives on", async () => {
    const stdout = await printed(`
      import { connect } from "@patchbay/client";
      import { createShell } from "@patchbay/servers/shell";
      const client = await connect(await createShell({ unsafeNoSandbox: true, warn() {} }));
      if (process.getuid() === 0) process.setuid(65534);
      const command = "pwd; mkdir -p d/e; chmod 0 d";
      const folder = (await client.callTool("bash", { command })).structuredContent.stdout.trim();
      const after = \`chmod -R 700 \${folder}; rm -r \${folder}; echo lives\`;
      console.log((await client.callTool("bash", { command: after })).structuredContent.stdout);
      process.exit();`);
    expect(stdout).toBe("lives\n\n");
  });
});

needs("bwrap")("a command", () => {
  it("runs where no control group can be made any more", async () => {
    const sandbox = await openSandbox({});
    if ("unavailable" in sandbox) throw new Error(sandbox.unavailable);
    const gone = { ...sandbox, groups: { version: 2 as const, parent: join(root, "gone") } };
    const outcome = await run(gone, { command: ["echo", "well"], timeout: 10, signal });
    expect(outcome).toMatchObject({ returncode: 0, stdout: "well\n" });
  });
});

describe("folders that are kept", () => {
  const limits = { maxFolders: 2, folderTtl: 60_000 };
  const work = (content: string) => async (files: { after(chunk: Buffer): void }) => {
    files.after(writeArchive(new Map([["a.txt", Buffer.from(content)]])));
    return { filesKept: true };
  };

  it("are whole though two servers write them at the same time", async () => {
    const place = join(root, "shared");
    const [one, two] = [new Folders(place, limits), new Folders(place, limits)];
    const handle = one.create("ada");
    const long = "x".repeat(50_000);
    let enter = () => {};
    const entered = new Promise<void>((resolve) => {
      enter = resolve;
    });
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const first = one.use(handle, "ada", 1e6, async (files) => {
      await work(long)(files);
      enter();
      await left;
      return { filesKept: true };
    });
    await entered;
    await two.use(handle, "ada", 1e6, work("short"));
    expect(two.files(handle, "ada")?.get("a.txt")?.toString()).toBe("short");
    leave();
    await first;
    expect(two.files(handle, "ada")?.get("a.txt")?.toString()).toBe(long);
    expect(readdirSync(place)).toHaveLength(1);
  });

  it("leave nothing for ever that a killed server was writing", () => {
    const place = join(root, "killed");
    const folders = new Folders(place, limits);
    writeFileSync(join(place, "half.tar.1.next"), "half");
    utimesSync(join(place, "half.tar.1.next"), 0, 0);
    folders.create("ada");
    expect(readdirSync(place).filter((name) => name.endsWith(".next"))).toEqual([]);
  });

  it("tell nobody where they are", async () => {
    const place = join(root, "taken");
    const client = await connect(await createShell({ ...UNSAFE, folders: place }));
    rmSync(place, { recursive: true });
    const { isError, content } = await client.callTool("open_folder");
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toContain("cannot be read or written now (ENOENT)");
    expect(JSON.stringify(content)).not.toContain(root);
    mkdirSync(place);
    expect((await client.callTool("open_folder")).isError).toBeUndefined();
    await client.close();
  });
});

it("an archive whose names never end is read past them", () => {
  const content = Buffer.from("fine");
  const named = writeArchive(new Map([["@LongLink", Buffer.alloc(120_000_000, "/")]]));
  named.write("L", 156);
  // The type counts in the sum.
  const sum = named.subarray(0, 512).reduce((all, byte, at) => all + (at < 148 || at >= 156 ? byte : 32), 0);
  named.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const archive = Buffer.concat([
    named.subarray(0, -1024),
    writeArchive(
      new Map([
        ["x", content],
        ["y", content],
      ]),
    ),
  ]);
  expect([...readArchive(archive).keys()]).toEqual(["y"]);
});

needs("bwrap", "python3")("code", () => {
  it.each([
    ["python", (many: number) => `for n in range(${many}): open(f'{n}.txt', 'w').close()`],
    [
      "node",
      (many: number) => `for (let n = 0; n < ${many}; n++) require("fs").writeFileSync(n + ".txt", "")`,
    ],
  ])("makes so many files in %s; the rest is left out, and that is said", async (language, code) => {
    const client = await connect(await createCode({ maxMadeFiles: 3 }));
    const { session } = (await client.callTool("start_session", { language })).structuredContent as {
      session: string;
    };
    for (const more of [{}, { session }]) {
      const call = (many: number) => client.callTool("run_code", { language, code: code(many), ...more });
      expect((await call(3)).structuredContent).toMatchObject({ stderr: "", files: { length: 3 } });
      const { structuredContent } = await call(300);
      expect(structuredContent).toMatchObject({
        stderr: expect.stringContaining("maxMadeFiles 3"),
        files: { length: 3 },
      });
    }
    await client.close();
  });

  it.each([
    ["python", "import os; os.chdir('/usr')", "open('/box/made.txt', 'w').write('x')"],
    ["node", "process.chdir('/usr')", "require('fs').writeFileSync('/box/made.txt', 'x')"],
  ])(
    "in a session of %s goes elsewhere, and its files are those of its folder",
    async (language, go, make) => {
      const client = await connect(await createCode());
      const { session } = (await client.callTool("start_session", { language })).structuredContent as {
        session: string;
      };
      const call = async (code: string, files: object[] = []) =>
        (await client.callTool("run_code", { language, session, code, files })).structuredContent;
      expect(await call(go)).toMatchObject({ returncode: 0, files: [] });
      expect(await call(make)).toMatchObject({ files: [{ path: "made.txt" }] });
      // What cannot be put there ends the call, and not the session.
      const refused = await call("1", [{ path: "made.txt/x", content: "" }]);
      expect(refused).toMatchObject({
        returncode: 1,
        stderr: expect.stringContaining("made.txt/x cannot be written"),
      });
      expect(await call(go)).toMatchObject({ returncode: 0, stderr: "" });
      await client.close();
    },
  );

  it("makes files whose names are no text, and says what it printed", async () => {
    const client = await connect(await createCode());
    const language = "python";
    const { session } = (await client.callTool("start_session", { language })).structuredContent as {
      session: string;
    };
    const code = "open(b'\\xff.txt', 'w').write('x'); print('well')";
    for (const more of [{}, { session }]) {
      const result = await client.callTool("run_code", { language, code, ...more });
      expect(result.structuredContent).toMatchObject({ stdout: "well\n", files: [] });
    }
    const files = [{ path: "a.bin", content: "no base64!", encoding: "base64" }];
    const { content } = await client.callTool("run_code", { language, code, files });
    expect(JSON.stringify(content)).toContain("the content is not base64");
    await client.close();
  });
});
