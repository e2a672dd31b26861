/** robots.txt, by the examples and the edges of RFC 9309. */

import { expect, it } from "vitest";
import { allows, parseRobots } from "../../src/web/fetch/robots.ts";

function may(text: string, path: string): boolean {
  return allows(parseRobots(text, "patchbay"), new URL(path, "https://example.com"));
}

it.each<[string, string, boolean]>([
  ["", "/", true],
  ["User-agent: *\nDisallow: /", "/x", false],
  ["User-agent: *\nDisallow:", "/x", true],
  ["user-AGENT : Patchbay # us\nDISALLOW: /a", "/a/b", false],
  ["User-agent: *\nDisallow: /\nUser-agent: patchbay\nDisallow: /a", "/b", true],
  ["User-agent: patchbay\nUser-agent: other\nDisallow: /a", "/a", false],
  ["User-agent: patchbay\nDisallow: /a\n\nUser-agent: patchbay\nDisallow: /b", "/a", false],
  ["User-agent: patchbay\nDisallow: /a\n\nUser-agent: patchbay\nDisallow: /b", "/b", false],
  ["User-agent: patchbay-news\nDisallow: /", "/", true],
  ["Disallow: /", "/", true],
  ["User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/c", false],
  ["User-agent: *\nAllow: /page\nDisallow: /page", "/page", true],
  ["User-agent: *\nDisallow: /*.gif$", "/x/y.gif", false],
  ["User-agent: *\nDisallow: /*.gif$", "/x/y.gif?z", true],
  ["User-agent: *\nDisallow: /a$", "/a", false],
  ["User-agent: *\nDisallow: /a$", "/ab", true],
  ["User-agent: *\nDisallow: /a*b*c", "/a1b2c3", false],
  ["User-agent: *\nDisallow: /a*b*c", "/acb", true],
  ["User-agent: *\nDisallow: /x*x$", "/x", true],
  ["User-agent: *\nDisallow: *?q=", "/s?q=1", false],
  ["User-agent: *\nDisallow: /%7ejoe", "/~joe", false],
  ["User-agent: *\nDisallow: /a%3cd", "/a%3Cd", false],
  ["User-agent: *\nDisallow: /ツ", "/%E3%83%84", false],
  ["User-agent: *\nSitemap: /x\nDisallow: /a", "/a", false],
  ["\uFEFFUser-agent: *\r\nDisallow: /a\r", "/a", false],
  ["<html><p>User-agent: *</p>", "/", true],
])("%j: %s", (text, path, allowed) => {
  expect(may(text, path)).toBe(allowed);
});

it("takes no time for a pattern made to take it", () => {
  const pattern = `${"*a".repeat(5000)}$`;
  expect(may(`User-agent: *\nDisallow: /${pattern}`, `/${"a".repeat(4000)}b`)).toBe(true);
});

it("takes no time for a group that names everybody again and again", () => {
  const text = `${"User-agent: *\n".repeat(15_000)}${"Disallow: /a\n".repeat(15_000)}`;
  expect(may(text, "/a")).toBe(false);
});
