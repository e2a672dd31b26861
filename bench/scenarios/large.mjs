/** Results and arguments of up to 10 MiB. */

import { GIVE, TAKE } from "../drivers/large.mjs";
import { large } from "../measures/large.mjs";
import { LEGACY, MODERN } from "../messages.mjs";
import { atMost } from "../targets.mjs";

const COPIES = 4;
/** What is linear takes as long for each MiB; the first has what is fixed in it. */
const LINEAR = 1.25;

const directions = [
  { direction: "result", words: "a result", tool: GIVE },
  { direction: "argument", words: "an argument", tool: TAKE },
];

const contenders = [
  { name: "bare-http", title: "bare node:http", over: "http", serve: ["servers/bare-http.mjs"], bare: true },
  {
    name: "patchbay-http",
    title: "Patchbay, HTTP",
    over: "http",
    serve: ["servers/patchbay-http.mjs"],
    ours: true,
  },
  { name: "sdk-v2-http", title: "official SDK v2, HTTP", over: "http", serve: ["servers/sdk-v2-http.mjs"] },
  {
    name: "bare-stdio",
    title: "bare readline loop",
    over: "stdio",
    serve: ["servers/bare-stdio.mjs"],
    bare: true,
  },
  {
    name: "patchbay-stdio",
    title: "Patchbay, stdio",
    over: "stdio",
    serve: ["servers/patchbay-stdio.mjs"],
    ours: true,
  },
  {
    name: "sdk-v1-stdio",
    title: "official SDK v1, stdio",
    over: "stdio",
    revision: LEGACY,
    serve: ["servers/sdk-v1-stdio.mjs"],
  },
  {
    name: "sdk-v2-stdio",
    title: "official SDK v2, stdio",
    over: "stdio",
    serve: ["servers/sdk-v2-stdio.mjs"],
  },
];

const times = (value) => `${value.toFixed(2)}×`;
const copies = (value) => value.toFixed(1);

/** @type {import("../scenarios.mjs").Scenario} */
export const largeMessages = {
  name: "large",
  title: "Messages of up to 10 MiB, one at a time",
  measured: large,
  targets: ["http", "stdio"].flatMap((over) =>
    directions.flatMap(({ direction, words }) => [
      atMost(
        LINEAR,
        `patchbay-${over}-${direction}`,
        "growth",
        `time for a MiB of ${words} at 10 against 1, ${over}`,
        times,
      ),
      atMost(
        COPIES,
        `patchbay-${over}-${direction}`,
        "copies",
        `copies of ${words} of 10 MiB, ${over}`,
        copies,
      ),
    ]),
  ),
  contenders: directions.flatMap(({ direction, tool }) =>
    contenders.map((contender) => ({
      revision: MODERN,
      ...contender,
      name: `${contender.name}-${direction}`,
      title: `${contender.title}: ${direction}`,
      tool,
    })),
  ),
};
