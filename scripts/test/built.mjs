/** Before any test: what was edited is bundled, so that tests that run what is built run what is written. */

import { bundle } from "../bundle.mjs";

export async function setup() {
  await bundle().catch((error) => console.error(`The tests run what was built before: ${error.message}`));
}
