/** What stdio clients are measured against: all lines that come in at once are answered in one write. Argument: the revision. */

import { channelPair } from "@patchbay/core";
import { server } from "./patchbay.mjs";
import { answerEcho } from "./target.mjs";

const [ours, theirs] = channelPair();
server.serve(theirs);
ours.listen(
  (text) => process.stdout.write(`${text}\n`),
  () => {},
);

let rest = "";
process.stdin.setEncoding("latin1").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  let answers = "";
  for (const line of lines) {
    const answer = answerEcho(line);
    if (answer === undefined) ours.send(line);
    else answers += `${answer}\n`;
  }
  if (answers !== "") process.stdout.write(answers, "latin1");
});
process.stdin.on("end", () => process.exit(0));
