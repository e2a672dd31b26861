/**
 * `npm run soak [-- --seconds N] [-- --faults] [-- --json]`: the server under mixed load for ten minutes; or three
 * instances behind HAProxy that are killed all the time. Prints figures; exits with 1 when something was wrong.
 */

import { parseArgs } from "node:util";
import { lines } from "./figures.mjs";

const USAGE = `usage: npm run soak -- [options]

  --seconds <n>   how long (default 600, with --faults 120)
  --faults        three instances behind HAProxy that are killed all the time, and a Redis that restarts
  --clients <n>   of the fault run (default 200)
  --json          print the figures as JSON
  --help

For example: npm run soak -- --faults --seconds 30`;

const values = optionsOf(process.argv.slice(2));
const seconds = numberOf("seconds", values.faults ? 120 : 600, 5);
const clients = numberOf("clients", 200, 1);

function optionsOf(args) {
  const options = {
    seconds: { type: "string" },
    clients: { type: "string" },
    faults: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  };
  try {
    const { values } = parseArgs({ args, options });
    if (!values.help) return values;
  } catch (thrown) {
    refuse(thrown.message.split(". ")[0]);
  }
  console.log(USAGE);
  process.exit(0);
}

function numberOf(name, otherwise, least) {
  const number = Number(values[name] ?? otherwise);
  if (number >= least && Number.isFinite(number)) return number;
  return refuse(`--${name} takes a number of ${least} or more, not "${values[name]}"`);
}

function refuse(why) {
  console.error(`${why}\n\n${USAGE}`);
  process.exit(2);
}

const tell = (sample) => {
  if (!values.json) console.error(JSON.stringify(sample));
};
const { fine, report } = values.faults
  ? await (await import("./faults.mjs")).faults(seconds, tell, clients)
  : await (await import("./soak.mjs")).soak(seconds, tell);
if (values.json) console.log(JSON.stringify({ fine, ...report }));
else
  console.log(
    `${lines(report).join("\n")}\n${fine ? "All was as it should be." : "Something was wrong: see above."}`,
  );
process.exit(fine ? 0 : 1);
