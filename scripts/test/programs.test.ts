/** Programs that tests need: found where they are, and asked for by their package where they are not. */

import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { locate, PROGRAMS, remedy } from "../programs.mjs";
import { needs, type Program, programFile } from "./needs.ts";

const ALL = Object.keys(PROGRAMS) as Program[];

it("finds a program by its name, and none by a name that nothing has", () => {
  expect(locate("node")).toMatch(/node$/);
  expect(locate("no-such-program")).toBeUndefined();
});

it("names the packages to install", () => {
  expect(remedy(ALL)).toMatch(/redis-server nginx haproxy/);
});

needs(...ALL)("with all of them installed", () => {
  it.each(ALL)("%s runs", (program) => {
    const short = ["redis-server", "nginx", "haproxy"].includes(program) ? "-v" : undefined;
    const flag = program === "tmux" ? "-V" : (short ?? "--version");
    expect(() => execFileSync(programFile(program), [flag], { stdio: "ignore" })).not.toThrow();
  });
});
