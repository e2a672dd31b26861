/** The program that keeps a Node for a session: variables stay, and `await` stands anywhere. */

/** Speaks as the Python driver does: see there. In a block, so that its names are free. */
export const NODE_DRIVER = String.raw`{
const fs = require("node:fs");
const path = require("node:path");
const { inspect } = require("node:util");
const { Session } = require("node:inspector");
const v8 = new Session();
v8.connect();
Object.assign(globalThis, { require, module, exports });
const asked = new (require("node:net").Socket)({ fd: 5, readable: true, writable: false });
const base = process.cwd();
let known = new Map();

const look = function (folder = base, found = new Map()) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    try {
      if (entry.isDirectory()) look(file, found);
      else if (entry.isFile()) {
        const { mtimeNs, size } = fs.lstatSync(file, { bigint: true });
        found.set(path.relative(base, file), { state: mtimeNs + "/" + size, size: Number(size) });
      }
    } catch {}
  }
  return found;
}

const changed = function (room, most) {
  const found = look();
  const files = {};
  let left = 0;
  for (const [file, { state, size }] of found) {
    if (known.get(file)?.state === state) continue;
    if (size > room || Object.keys(files).length >= most) {
      left++;
      continue;
    }
    try {
      const content = fs.readFileSync(path.join(base, file));
      room -= content.length;
      files[file] = content.toString("base64");
    } catch {}
  }
  known = found;
  return { files, left };
}

const bring = function (files) {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(base, name);
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, Buffer.from(content, "base64"));
    } catch (error) {
      process.stderr.write(name + " cannot be written: " + error.code + "\n");
      return false;
    }
  }
  return true;
}

/** Without the frames of this program. */
const explain = function (text) {
  const lines = text.split("\n");
  const own = lines.findIndex((line) => /^\s+at .*(node:inspector|\[eval\])/.test(line));
  process.stderr.write("Uncaught " + (own === -1 ? lines : lines.slice(0, own)).join("\n") + "\n");
}

// What goes wrong later ends neither the call nor the session.
process.on("uncaughtException", (error) => explain(error?.stack ?? inspect(error)));

const evaluate = function (expression) {
  return new Promise((resolve) => {
    v8.post("Runtime.evaluate", { expression, replMode: true, awaitPromise: true }, (failed, done) => {
      const thrown = failed ? { description: failed.message } : done.exceptionDetails?.exception;
      if (thrown) explain(thrown.description ?? inspect(thrown.value));
      resolve(thrown ? 1 : 0);
    });
  });
}

const answer = async function (call) {
  const whole = bring(call.files);
  known = look();
  const returncode = whole ? await evaluate(call.code) : 1;
  const made = changed(call.maxBytes, call.maxFiles);
  process.stdout.write(call.mark);
  process.stderr.write(call.mark);
  fs.writeSync(4, JSON.stringify({ returncode, ...made }) + "\n");
}

let text = "";
asked.setEncoding("utf8").on("data", async (chunk) => {
  text += chunk;
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n")) {
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    await answer(JSON.parse(line));
  }
});
}
`;
