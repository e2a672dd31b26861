/**
 * `npm run soak [-- --seconds N] [-- --faults] [-- --json]`: the server under mixed load for ten minutes; or three
 * instances behind HAProxy that are killed all the time. Prints figures; exits with 1 when something was wrong.
 */

import { parseArgs } from "node:util";
import { lines } from "./figures.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string" },
    clients: { type: "string" },
    faults: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds ?? (values.faults ? 120 : 600));
if (!(seconds >= 5)) {
  console.error(`--seconds takes a number of 5 or more, not "${values.seconds}".`);
  process.exit(2);
}

const tell = (sample) => {
  if (!values.json) console.error(JSON.stringify(sample));
};
const { fine, report } = values.faults
  ? await (await import("./faults.mjs")).faults(seconds, tell, Number(values.clients ?? 200))
  : await (await import("./soak.mjs")).soak(seconds, tell);
if (values.json) console.log(JSON.stringify({ fine, ...report }));
else
  console.log(
    `${lines(report).join("\n")}\n${fine ? "All was as it should be." : "Something was wrong: see above."}`,
  );
process.exit(fine ? 0 : 1);
