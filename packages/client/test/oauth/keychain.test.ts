/** Credentials that are encrypted with a key of the system's keychain: a real one, and one that cannot be reached. */

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { needs, programFile } from "../../../../scripts/test/needs.ts";

// Each starts processes; a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000 });

const FIXTURE = fileURLToPath(new URL("../fixtures/keychain.mjs", import.meta.url));
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "patchbay-keychain-"));
  file = join(folder, "credentials.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command with a home of its own, and nobody's session. */
function run(command: string, args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_RUNTIME_DIR: folder };
  return new Promise((resolve) => {
    execFile(command, args, { env, cwd: folder }, (_error, stdout) => resolve(stdout.trim()));
  });
}

needs("dbus-run-session", "gnome-keyring-daemon")("in a session with a keychain", () => {
  /** Unlocks a keychain of this test's own, as logging in to a desktop does. */
  const inSession = (script: string) =>
    run(programFile("dbus-run-session"), [
      "--",
      "sh",
      "-c",
      `printf pw | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1; ${script}`,
    ]);
  test("the file alone is worth nothing, and stays encrypted; another keychain does not open it", async () => {
    const script = `"${process.execPath}" "${FIXTURE}" "${file}"`;
    expect(await inSession(script)).toBe("canary");
    const kept = readFileSync(file, "utf8");
    expect(Object.keys(JSON.parse(kept))).toEqual(["sealed"]);
    expect(kept).not.toContain("canary");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    // Another run is another process with the same keychain.
    expect(await inSession(script)).toBe("canary");

    rmSync(join(folder, ".local"), { recursive: true });
    expect(await inSession(script)).toMatch(/^failed: .*does not have the key that it is encrypted with$/);
    expect(readFileSync(file, "utf8")).toContain("sealed");
  });
});

test("without a keychain nothing is kept in the open, and what is wrong is said", async () => {
  const said = await run(process.execPath, [FIXTURE, file]);
  expect(said).toMatch(/^failed: .*credentials\.json: the system's keychain cannot be reached, or is locked/);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, '{"sealed":"AAAA"}', { mode: 0o600 });
  expect(await run(process.execPath, [FIXTURE, file])).toMatch(/^failed: .*cannot be reached, or is locked/);
  expect(readFileSync(file, "utf8")).toBe('{"sealed":"AAAA"}');
});
