/** The command as a function. */

export { main } from "./run.ts";
