/** The real nginx and HAProxy on the files of deploy/: only the addresses are others, given as users give theirs. */

import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { locate } from "../../scripts/programs.mjs";
import { freePort, startProgram } from "./program.mjs";

/**
 * @typedef {"nginx" | "haproxy"} Kind
 * @typedef {"round-robin" | "sticky"} Way
 * @typedef {import("./instances.mjs").Instance} Instance
 * @typedef {object} Balancer
 * @property {string} origin such as `http://127.0.0.1:8080`
 * @property {string} url of the MCP endpoint
 * @property {import("./program.mjs").Program} program
 * @property {() => Promise<void>} stop
 */

/**
 * Starts a balancer before three instances.
 *
 * @param {Kind} kind
 * @param {Way} way
 * @param {readonly Instance[]} instances
 * @returns {Promise<Balancer>}
 */
export async function startBalancer(kind, way, instances) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), `patchbay-${kind}-`));
  const start = kind === "nginx" ? startNginx : startHaproxy;
  const program = await start(folder, way, instances, port);
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    url: `${origin}/mcp`,
    program,
    async stop() {
      await program.end("SIGTERM");
      rmSync(folder, { recursive: true });
    },
  };
}

/** The file's own place is in `http { … }` of an installed nginx; this is such a one, as Debian has it. */
const NGINX = `
daemon off;
pid nginx.pid;
error_log stderr warn;
worker_processes 1;
events { worker_connections 4096; }
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    sendfile on;
    tcp_nopush on;
    gzip on;
    gzip_types application/json text/event-stream;
    include conf.d/*.conf;
}
`;

function startNginx(folder, way, instances, port) {
  // The workers of root's nginx are nobody, who must get at the bodies that are kept there.
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, "conf.d"));
  cpSync(deployed(`nginx/${way}.conf`), join(folder, "conf.d", "patchbay.conf"));
  cpSync(deployed("nginx/patchbay"), join(folder, "patchbay"), { recursive: true });
  rewrite(join(folder, "patchbay", "instances.conf"), (text) =>
    instances.reduce((all, { address }, index) => all.replaceAll(`127.0.0.1:${3001 + index}`, address), text),
  );
  rewrite(join(folder, "patchbay", "listen.conf"), (text) =>
    text.replace("\nlisten 8080;", `\nlisten 127.0.0.1:${port};`),
  );
  writeFileSync(join(folder, "nginx.conf"), NGINX);
  const args = ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"];
  return startProgram(locate("nginx") ?? "nginx", args, { ready: (signal) => listening(port, signal) });
}

function startHaproxy(_folder, way, [a, b, c], port) {
  const env = {
    PATCHBAY_LISTEN: `127.0.0.1:${port}`,
    PATCHBAY_A: a.address,
    PATCHBAY_B: b.address,
    PATCHBAY_C: c.address,
  };
  return startProgram(locate("haproxy") ?? "haproxy", ["-db", "-f", deployed(`haproxy/${way}.cfg`)], {
    env,
    ready: (signal) => listening(port, signal),
  });
}

/** Neither says when it listens. */
async function listening(port, signal) {
  while (!signal.aborted && !(await accepts(port))) await delay(10);
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function rewrite(file, change) {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

function deployed(path) {
  return fileURLToPath(new URL(`../${path}`, import.meta.url));
}
