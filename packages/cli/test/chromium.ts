/** A user with a real browser (Chromium, headless): fills in the forms of an authorization server, and comes back. */

import { type BrowserContext, chromium, type Page } from "playwright-core";
import { programFile } from "../../../scripts/test/needs.ts";

/** What a user saw on their way. */
export interface Visited {
  /** The prompts that they answered: `login`, `consent`. */
  prompts: string[];
  /** What they agreed to. */
  agreed: string;
  /** Where it ended, and what stood there. */
  url: string;
  text: string;
}

export interface User {
  /** Goes to a page, logs in where that is asked, agrees to what is shown, until the browser is sent back. */
  visit(url: string): Promise<Visited>;
  close(): Promise<void>;
}

/** More pages than any login has. */
const MAX_PAGES = 10;

/** Starts a browser that reaches this machine alone. */
export async function startChromium(): Promise<{
  user(name: string): Promise<User>;
  close(): Promise<void>;
}> {
  const browser = await chromium.launch({
    executablePath: programFile("chromium"),
    args: [
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
  });
  return {
    user: async (name) => userOf(await browser.newContext(), name),
    close: () => browser.close(),
  };
}

function userOf(context: BrowserContext, name: string): User {
  return {
    async visit(url) {
      const home = new URL(url).searchParams.get("redirect_uri") ?? "";
      const page = await context.newPage();
      const seen: Visited = { prompts: [], agreed: "", url: "", text: "" };
      try {
        await page.goto(url, { waitUntil: "domcontentloaded" });
        for (let pages = 0; pages < MAX_PAGES && !page.url().startsWith(home); pages++) {
          await answerForm(page, name, seen);
        }
        return { ...seen, url: page.url(), text: (await page.textContent("body")) ?? "" };
      } finally {
        await page.close();
      }
    },
    close: () => context.close(),
  };
}

async function answerForm(page: Page, name: string, seen: Visited): Promise<void> {
  const prompt = await page.locator("input[name=prompt]").inputValue();
  seen.prompts.push(prompt);
  if (prompt === "login") {
    await page.fill("input[name=login]", name);
    await page.fill("input[name=password]", "any");
  } else {
    seen.agreed = (await page.textContent("ul >> nth=0")) ?? "";
  }
  const next = page.waitForEvent("domcontentloaded");
  await page.click("button[type=submit]");
  await next;
}
