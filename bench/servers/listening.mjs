/** What every HTTP server here does once it listens: print its port, and end when the benchmark that started it does. */

/** @param {number} port */
export function listening(port) {
  console.log(port);
  process.stdin.on("end", () => process.exit(0)).resume();
}
