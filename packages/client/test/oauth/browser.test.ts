/** The browser: where it may be sent, how it comes back, and that no shell sees a URL. */

import { chmodSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { openUrl } from "../../src/oauth/open-url.ts";
import { browser, type Visit } from "../../src/oauth.ts";

const cleanups: (() => unknown)[] = [];
const never = new AbortController().signal;

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function prepared(options: Parameters<typeof browser>[0] = {}, preferred?: string): Promise<Visit> {
  const visit = await browser({ open: () => {}, ...options }).prepare(preferred);
  cleanups.push(() => visit.close());
  return visit;
}

const status = async (url: string) => (await fetch(url, { redirect: "manual" })).status;

describe("coming back", () => {
  test("is heard at a port of this machine, by who knows the state", async () => {
    const visit = await prepared();
    expect(visit.redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const back = visit.go("https://issuer.example/authorize?state=mine", never);
    expect(await status(`${visit.redirectUri}?code=evil&state=guessed`)).toBe(400);
    expect(await status(`${visit.redirectUri}?code=evil`)).toBe(400);
    expect(await status(visit.redirectUri.replace("/callback", "/other?state=mine"))).toBe(404);
    expect(await status(`${visit.redirectUri}?code=good&state=mine`)).toBe(200);
    expect(await back).toBe(`${visit.redirectUri}?code=good&state=mine`);
  });

  test("shows nothing of what it came with", async () => {
    const visit = await prepared();
    const back = visit.go("https://issuer.example/authorize?state=mine", never);
    const page = await fetch(`${visit.redirectUri}?state=mine&error=%3Cscript%3Ealert(1)%3C/script%3E`);
    expect(await page.text()).not.toContain("script");
    expect(page.headers.get("content-security-policy")).toBe("default-src 'none'");
    await back;
  });

  test("is not heard by another name of this machine", async () => {
    const visit = await prepared();
    visit.go("https://issuer.example/authorize?state=mine", never).catch(() => {});
    const found = await new Promise<number | undefined>((resolve) => {
      get(`${visit.redirectUri}?code=x&state=mine`, { headers: { host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    expect(found).toBe(404);
  });

  test("goes to the port of before if it is free, else to another", async () => {
    const first = await prepared();
    const second = await prepared({}, first.redirectUri);
    expect(second.redirectUri).not.toBe(first.redirectUri);
    await first.close();
    expect((await prepared({}, first.redirectUri)).redirectUri).toBe(first.redirectUri);
    expect((await prepared({}, "https://app.example/callback")).redirectUri).toMatch(/127\.0\.0\.1/);
  });

  test("may be pasted", async () => {
    const visit = await prepared({ pasted: async () => "http://127.0.0.1/callback?code=1" });
    expect(await visit.go("https://issuer.example/?state=mine", never)).toBe(
      "http://127.0.0.1/callback?code=1",
    );
  });

  test("is not waited for where nobody could be sent", async () => {
    const open = () => {
      throw new Error("no browser");
    };
    const visit = await prepared({ open });
    await expect(visit.go("https://issuer.example/?state=mine", never)).rejects.toThrow("no browser");
  });

  test("is given up with the login, and leaves no port open", async () => {
    const visit = await prepared();
    const abort = new AbortController();
    const back = visit.go("https://issuer.example/?state=mine", abort.signal);
    abort.abort(new Error("enough"));
    await expect(back).rejects.toThrow("enough");
    await visit.close();
    await expect(fetch(visit.redirectUri)).rejects.toThrow();
  });
});

describe("opening a page", () => {
  test.each(["javascript:alert(1)", "file:///etc/passwd", "http://example.com/", "ms-calculator:"])(
    "is not done for %s",
    (url) => {
      expect(() => openUrl(url)).toThrow("only sent to https");
    },
  );

  test("says so where there is nothing to open it with", async () => {
    expect(await openUrl("https://example.com/", "linux", {})).toBe(false);
  });

  test.skipIf(process.platform === "win32")(
    "hands the URL over as one word that no shell reads",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "patchbay-open-"));
      const path = process.env.PATH;
      cleanups.push(() => rmSync(folder, { recursive: true }));
      cleanups.push(() => {
        process.env.PATH = path;
      });
      const told = join(folder, "told");
      const script = `#!${process.execPath}\nrequire("node:fs").writeFileSync(${JSON.stringify(told)}, process.argv.slice(2).join("|"))`;
      writeFileSync(join(folder, "xdg-open"), script);
      chmodSync(join(folder, "xdg-open"), 0o755);
      process.env.PATH = `${folder}:${path}`;
      const arrived = new Promise<void>((resolve) => {
        const watcher = watch(folder, () => {
          try {
            if (readFileSync(told, "utf8") !== "") resolve();
          } catch {
            // It is not there yet.
          }
        });
        cleanups.push(() => watcher.close());
      });
      const url = `https://example.com/$(touch%20${folder}/owned)?a=\`id\`;&b=|x`;
      expect(await openUrl(url, "linux", { DISPLAY: ":0" })).toBe(true);
      await arrived;
      expect(readFileSync(told, "utf8")).toBe(new URL(url).href);
    },
  );
});
