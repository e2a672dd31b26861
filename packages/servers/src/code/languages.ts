/** The languages that code can be written in: how a program is run, and how an interpreter is kept. */

import { existsSync } from "node:fs";
import type { Sandbox } from "../sandbox/open.ts";
import { NODE_DRIVER } from "./node.ts";
import { PYTHON_DRIVER } from "./python.ts";

export interface Language {
  name: "python" | "node";
  /** The file that holds the code. */
  file: string;
  program: string;
  /** What keeps an interpreter. */
  driver: string[];
}

const LANGUAGES: Language[] = [
  { name: "python", file: "main.py", program: "python3", driver: ["python3", "-c", PYTHON_DRIVER] },
  { name: "node", file: "main.js", program: "node", driver: ["node", "-e", NODE_DRIVER] },
];

/** Those whose programs there are in the sandbox. */
export function languagesIn(sandbox: Sandbox): Language[] {
  const path = sandbox.environment?.PATH ?? "/usr/local/bin:/usr/bin:/bin";
  const isThere = (program: string) => path.split(":").some((folder) => existsSync(`${folder}/${program}`));
  return LANGUAGES.filter(
    ({ program }) =>
      isThere(program) || (program === "node" && sandbox.prefix.includes("/interpreters/node")),
  );
}
