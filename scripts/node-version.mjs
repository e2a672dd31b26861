/** Refuses a Node that is too old, before anything is loaded that it could not read. */

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(
    `Patchbay needs Node.js 20.19 or later; this is ${process.versions.node}. See https://nodejs.org.`,
  );
  process.exit(1);
}
