/** A process that outlives its test run is found and ended; the others are left alone. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { leftovers, markOf } from "../leftovers.mjs";

test.runIf(process.platform === "linux")(
  "finds and ends what carries the mark, in a group of its own too",
  async () => {
    const mark = markOf("test");
    const left = spawn(process.execPath, ["-e", "setInterval(() => {}, 1e9)"], {
      env: { ...process.env, ...mark },
      detached: true,
      stdio: "ignore",
    });
    const ended = once(left, "exit");
    await once(left, "spawn");
    expect(leftovers(markOf("another"))).toEqual([]);
    expect(leftovers(mark)).toEqual([expect.stringContaining(`${left.pid} ${process.execPath}`)]);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(leftovers(mark)).toEqual([]);
  },
);
