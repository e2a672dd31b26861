/** Kubernetes, Compose and the Dockerfile, as far as they go without a cluster: their fields exist, their parts agree, their commands start. */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { needs } from "../../scripts/test/needs.ts";
import { freePort, type Program, startProgram } from "../processes/program.mjs";
import { type Redis, startRedis } from "../processes/redis.mjs";
import { ask } from "./ask.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const DEPLOY = dirname(dirname(fileURLToPath(import.meta.url)));
const ROOT = dirname(DEPLOY);
const read = (file: string) => readFileSync(join(DEPLOY, file), "utf8");
const SECRET = "a-secret-of-these-tests-of-more-than-32-characters";

// biome-ignore lint/suspicious/noExplicitAny: what a manifest holds is what these tests are about
type Manifest = any;

const manifests = parseAllDocuments(read("kubernetes/patchbay.yaml"))
  .map((document) => document.toJS({ maxAliasCount: 10 }) as Manifest)
  .filter((manifest) => manifest !== null);
const ofKind = (kind: string) => manifests.find((manifest) => manifest.kind === kind);
const deployment = ofKind("Deployment");
const pod = deployment.spec.template;
const [container] = pod.spec.containers;
const compose: Manifest = parse(read("compose.yaml"), { merge: true });

describe("Kubernetes", () => {
  test("has what a deployment of many instances needs, and each field of it exists", () => {
    const kinds = {
      Deployment: "apps/v1",
      Service: "core/v1",
      Ingress: "networking/v1",
      HorizontalPodAutoscaler: "autoscaling/v2",
      PodDisruptionBudget: "policy/v1",
    };
    expect(manifests.map(({ kind }) => kind)).toEqual(Object.keys(kinds));
    // The compiler knows each field of each kind, and takes no other.
    const typed = Object.entries(kinds).map(
      ([kind, group]) =>
        `import type { ${kind} } from "kubernetes-types/${group}.js";\n` +
        `export const ${kind}_: ${kind} = ${JSON.stringify(ofKind(kind), null, 2)};`,
    );
    const cache = join(ROOT, "node_modules", ".cache");
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "manifests-"));
    const file = join(folder, "manifests.ts");
    writeFileSync(file, typed.join("\n"));
    const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig"];
    options.push("--module", "nodenext", "--types", "");
    const { stdout, status } = spawnSync(process.execPath, [tsc, ...options, file], { encoding: "utf8" });
    rmSync(folder, { recursive: true });
    expect([status, stdout]).toEqual([0, ""]);
  });

  test("agrees with itself: labels, ports, names, secrets", () => {
    const { labels } = pod.metadata;
    expect(deployment.spec.selector.matchLabels).toEqual(labels);
    expect(ofKind("Service").spec.selector).toEqual(labels);
    expect(ofKind("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
    expect(pod.spec.topologySpreadConstraints[0].labelSelector.matchLabels).toEqual(labels);

    const { name, apiVersion, kind } = ofKind("HorizontalPodAutoscaler").spec.scaleTargetRef;
    expect([name, apiVersion, kind]).toEqual([deployment.metadata.name, "apps/v1", "Deployment"]);

    const [port] = container.ports;
    const [servicePort] = ofKind("Service").spec.ports;
    expect(servicePort.targetPort).toBe(port.name);
    expect(container.args).toContain(`--http=${port.containerPort}`);
    const metrics = container.ports[1].containerPort;
    expect(container.args).toContain(`--metrics=${metrics}`);
    expect(pod.metadata.annotations["prometheus.io/port"]).toBe(String(metrics));
    for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"]) {
      expect(container[probe].httpGet.port).toBe(port.name);
    }

    const ingress = ofKind("Ingress");
    const [{ host, http }] = ingress.spec.rules;
    expect(http.paths[0].backend.service).toEqual({
      name: ofKind("Service").metadata.name,
      port: { name: servicePort.name },
    });
    expect(container.args).toContain(`--allow-host=${host}`);
    expect(ingress.spec.tls[0].hosts).toEqual([host]);

    // The secret is made as its first lines say.
    for (const { valueFrom } of container.env) {
      if (valueFrom?.secretKeyRef === undefined) continue;
      const { name: secret, key } = valueFrom.secretKeyRef;
      expect(read("kubernetes/patchbay.yaml")).toMatch(
        new RegExp(`# +kubectl create secret generic ${secret} [\\s\\S]*--from-literal=${key}=`),
      );
    }
  });

  test("gives a pod that goes the time to finish", () => {
    const sleeps = Number(container.lifecycle.preStop.exec.command[1]);
    const drains = Number(optionOf(container.args, "drain-timeout")) / 1000;
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleeps + drains + 5);
  });

  test("keeps a session with its instance as deploy/haproxy does", () => {
    const snippet: string = ofKind("Ingress").metadata.annotations["haproxy.org/backend-config-snippet"];
    const sticky = read("haproxy/sticky.cfg")
      .split("\n")
      .map((line) => line.trim());
    for (const line of snippet.trim().split("\n")) expect(sticky).toContain(line);
  });
});

describe("Compose", () => {
  test("has nginx's very files; only the addresses of the instances are its own", () => {
    for (const volume of compose.services.nginx.volumes) {
      expect(existsSync(join(DEPLOY, volume.split(":")[0])), volume).toBe(true);
    }
    const addresses = ["a:3000", "b:3000", "c:3000"];
    const here = addresses.reduce(
      (text, address, index) => text.replaceAll(`127.0.0.1:${3001 + index}`, address),
      read("nginx/patchbay/instances.conf"),
    );
    const afterTitle = (text: string) => text.slice(text.indexOf("\n"));
    expect(afterTitle(read("compose/instances.conf"))).toBe(afterTitle(here));
    expect(compose.services.nginx.ports).toEqual(["127.0.0.1:8080:8080"]);
  });
});

test("the image's command is in the package, and its Node is new enough", () => {
  const [command, file] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "[]");
  expect([command, existsSync(join(ROOT, file))]).toEqual(["node", true]);
  for (const [, major] of read("Dockerfile").matchAll(/^FROM node:(\d+)/gm)) {
    expect(Number(major)).toBeGreaterThanOrEqual(20);
  }
});

needs("redis-server")("commands that really start", () => {
  let redis: Redis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const image = (): string[] => JSON.parse(/^CMD (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "[]");
  const composed = (name: string): string[] => compose.services[name].command;
  const commands: [string, () => string[]][] = [
    ["the image's", image],
    ["Compose's a", () => composed("a")],
    ["Compose's b", () => composed("b")],
    ["Compose's c", () => composed("c")],
    ["the pod's", () => container.args],
  ];

  test.each(commands)("%s", async (_whose, command) => {
    const port = await freePort();
    // Of a real command only the port is changed, which others may have here (and that of metrics), and what its surroundings fill in.
    const words = command().map((word) => word.replace("$(POD_NAME)", "patchbay-5d9c7b-x2x4q"));
    const args = words.map((word, at) => {
      if (word === "--http=3000" || words[at - 1] === "--http") return word.replace("3000", String(port));
      return word.replace(/^--metrics=\d+$/, "--metrics=0");
    });
    expect(args.join(" ")).toContain(String(port));
    const program: Program = await startProgram(
      process.execPath,
      [join(ROOT, "packages/cli/bin/patchbay.js"), ...args],
      { env: { REDIS_URL: redis.url, PATCHBAY_SECRETS: SECRET }, ready: /is served at/ },
    );
    const host = optionOf(args, "allow-host");
    for (const path of ["/healthz", "/readyz"]) {
      // As a probe does: at an address, for a name, again until it is so: Redis is reached after the port is open.
      const probe = async () => (await ask(`http://127.0.0.1:${port}${path}`, { headers: { host } })).status;
      await expect.poll(probe, { timeout: 30_000 }).toBe(200);
    }
    expect(await program.end("SIGTERM")).toBe(0);
  });

  test("the environment is what the command reads", () => {
    const names = [...Object.keys(compose["x-instance"].environment)].sort();
    expect(names).toEqual(["PATCHBAY_SECRETS", "REDIS_URL"]);
    const podNames = container.env.map(({ name }: { name: string }) => name).sort();
    expect(podNames).toEqual(["PATCHBAY_SECRETS", "POD_NAME", "REDIS_URL"]);
  });
});

function optionOf(args: readonly string[], name: string): string {
  const at = args.findIndex((word) => word === `--${name}` || word.startsWith(`--${name}=`));
  const word = args[at] ?? "";
  return word.includes("=") ? word.slice(word.indexOf("=") + 1) : (args[at + 1] ?? "");
}
