/** The small parts that have edges of their own: options, the environment, text that is shown. */

import { describe, expect, test } from "vitest";
import { readable } from "../src/errors.ts";
import { settingsOf } from "../src/options.ts";
import { environmentFor } from "../src/transports/environment.ts";

describe("an option that is a number of tries or connections", () => {
  test.each([
    { maxConnections: 0 },
    { maxConnections: 1.5 },
    { maxRetries: -1 },
    { maxRestarts: Number.NaN },
  ])("is refused when it is %o", (options) => {
    const [name] = Object.keys(options) as [string];
    expect(() => settingsOf(options)).toThrow(new RegExp(`^${name} must be a whole number of at least`));
  });

  test("may be none, or without end", () => {
    expect(
      settingsOf({ maxRestarts: 0, maxRetries: 0, maxConnections: Number.POSITIVE_INFINITY }),
    ).toMatchObject({
      maxRestarts: 0,
      maxConnections: Number.POSITIVE_INFINITY,
    });
  });
});

describe("the environment of a server process", () => {
  const own = { PATH: "/bin", LC_ALL: "C", API_KEY: "secret", NODE_OPTIONS: "--inspect", HOME: "/home/me" };

  test("has what programs need, and what the target declares, and no more", () => {
    expect(environmentFor({ HOME: "/elsewhere", MODE: "x" }, own, "linux")).toEqual({
      PATH: "/bin",
      LC_ALL: "C",
      HOME: "/elsewhere",
      MODE: "x",
    });
  });

  test("on Windows has Windows' own names, in any case", () => {
    const windows = {
      Path: "C:\\",
      SystemRoot: "C:\\Windows",
      "ProgramFiles(x86)": "C:\\P",
      API_KEY: "secret",
    };
    const { API_KEY: _, ...rest } = windows;
    expect(environmentFor(undefined, windows, "win32")).toEqual(rest);
  });
});

describe("a server's text, made fit to be shown", () => {
  test.each([
    ["colours and titles", "\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"],
    ["control characters", "a\x00b\x08c\x9bd\r", "a b c d"],
    ["what cannot be seen", "a\u200bb\u202ec\u{e0041}d", "a b c d"],
    ["more than one line", "a\nb", "a b"],
  ])("without %s", (_, text, shown) => {
    expect(readable(text)).toBe(shown);
  });

  test("cut where it is too long", () => {
    expect(readable("x".repeat(1_000), 10)).toBe("xxxxxxxxxx…");
  });
});
