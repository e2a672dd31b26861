/** Checks by schemas that a server chose: none of them runs for ever. */

import { type Context, createContext, Script } from "node:vm";
import type { Issue, JsonSchema, Validate } from "@patchbay/core";
import { compileSchema } from "@patchbay/core/schema";

/** Milliseconds that one check may take. */
const CHECK_TIMEOUT = 1_000;
/** A schema of more characters is watched, whatever it says. */
const SMALL = 16_384;
/** What can make a check run away: backtracking, comparing all with all, schemas that lead round. */
const COSTLY = /"(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef)":/;

let script: Script | undefined;
let sandbox: Context | undefined;

/**
 * Makes a validator that ends in any case. What cannot do harm is not watched: watching costs some 0.3 ms a check.
 *
 * @throws Error when the schema is wrong, passes a bound, or refers outside itself
 */
export function boundedSchema(schema: JsonSchema): Validate {
  const validate = compileSchema(schema);
  const text = JSON.stringify(schema);
  if (text.length <= SMALL && !COSTLY.test(text)) return validate;
  return (value) => watched(() => validate(value));
}

/** Runs a check; one that is not done in time is stopped, even inside a regular expression. */
function watched(check: () => Issue[] | undefined): Issue[] | undefined {
  script ??= new Script("check()");
  sandbox ??= createContext({});
  sandbox.check = check;
  try {
    return script.runInContext(sandbox, { timeout: CHECK_TIMEOUT });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    return [{ path: "", message: `its schema takes more than ${CHECK_TIMEOUT} ms to check it by` }];
  } finally {
    sandbox.check = undefined;
  }
}
