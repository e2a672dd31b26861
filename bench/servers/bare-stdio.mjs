/** A bare readline loop: a line in, a line out. */

import { createInterface } from "node:readline";
import { answer } from "./bare-answer.mjs";

createInterface({ input: process.stdin }).on("line", (line) => process.stdout.write(`${answer(line)}\n`));
