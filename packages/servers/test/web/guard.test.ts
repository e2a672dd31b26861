/** Nothing near is reached through web_fetch: by no spelling of an address, no name, no redirect, no second answer of a resolver. */

import { type Client, connect } from "@patchbay/client";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createWeb, type WebOptions } from "../../src/web/index.ts";
import { redirect, type Site, send, startSite } from "./site.ts";

const names = vi.hoisted(() => new Map<string, string[][]>());
const asked = vi.hoisted(() => [] as string[]);
vi.mock("node:dns/promises", () => ({
  lookup: async (name: string) => {
    asked.push(name);
    const answers = names.get(name) ?? [["127.0.0.1"]];
    const now = (answers.length > 1 ? answers.shift() : answers[0]) ?? [];
    return now.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  },
}));

/** The one that redirects, which the operator has named, and the one that nobody may reach. */
let door: Site;
let inner: Site;
let client: Client;
const others: Client[] = [];

beforeAll(async () => {
  door = await startSite();
  inner = await startSite();
  client = await connect(createWeb({ privateHosts: [door.host] }));
});
afterEach(async () => {
  names.clear();
  asked.length = 0;
  for (const other of others.splice(0)) await other.close();
});
afterAll(async () => {
  expect(inner.asked).toEqual([]);
  await client.close();
  await door.close();
  await inner.close();
});

async function web(options: WebOptions): Promise<Client> {
  const other = await connect(createWeb({ ignoreRobots: true, ...options }));
  others.push(other);
  return other;
}

async function said(url: string, through = client): Promise<string> {
  const { content } = await through.callTool("web_fetch", { url });
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

const REFUSED =
  /^web_fetch failed: \S+ is (?:not on the public web; the operator|at an address that no website has)/;

const FORMS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "0x7f.0.0.1",
  "0x7f000001",
  "0177.0.0.1",
  "017700000001",
  "2130706433",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "１２７.０.０.１",
  "①②⑦.⓪.⓪.①",
  "127。0。0。1",
  "[::1]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:FFFF:7F00:0001]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "localhost",
  "LOCALHOST",
  "localhost.",
  "any.localhost",
  "localtest.example",
];

describe("this machine is not reached", () => {
  it.each(FORMS)("as %s", async (host) => {
    expect(await said(`http://${host}:${inner.port}/`)).toMatch(REFUSED);
  });

  it.each(FORMS)("nor by a redirect to %s", async (host) => {
    door.answers.set("/", redirect(`http://${host}:${inner.port}/`));
    expect(await said(door.url)).toMatch(REFUSED);
  });
});

describe("nor is what no website is", () => {
  it.each([
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "0xa9fea9fe",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::a00:1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[2001:0:7f00:1::]",
    "[64:ff9b::808:808]",
    "[2002:808:808::]",
    "[2002:a9fe:a9fe::]",
  ])("%s", async (host) => {
    expect(await said(`http://${host}/`)).toMatch(REFUSED);
    expect(await said(`https://${host}:8443/`)).toMatch(REFUSED);
  });

  it.each(["22", "25", "111", "445"])("and port %s is none of the web's", async (port) => {
    expect(await said(`http://8.8.8.8:${port}/`)).toBe(
      `web_fetch failed: port ${port} is no port of the web`,
    );
  });
});

describe("a name", () => {
  it.each([
    ["one address that is near", ["127.0.0.1"]],
    ["one address in the network", ["10.0.0.1"]],
    ["the cloud's metadata", ["169.254.169.254"]],
    ["two addresses, the second of which is near", ["8.8.8.8", "127.0.0.1"]],
    ["two of both families", ["2606:4700::1111", "::1"]],
    ["an address in an address", ["::ffff:127.0.0.1"]],
    ["one that a gateway translates", ["64:ff9b::7f00:1"]],
    ["one that a gateway translates, to the public web", ["64:ff9b::808:808"]],
  ])("that has %s is not asked", async (_what, addresses) => {
    names.set("evil.example", [addresses]);
    expect(await said(`http://evil.example:${inner.port}/`)).toMatch(REFUSED);
  });

  it("is resolved once for a connection, and that is where it goes", async () => {
    names.set("named.example", [["127.0.0.1"], ["10.255.255.1"]]);
    door.answers.set("/", send("<p>pinned"));
    const other = await web({ privateHosts: [`named.example:${door.port}`] });
    expect(await said(`http://named.example:${door.port}/`, other)).toContain('"markdown":"pinned"');
    expect(asked).toEqual(["named.example"]);
  });

  it("is resolved again for each hop, and checked again", async () => {
    names.set("named.example", [["127.0.0.1"], ["169.254.169.254"]]);
    door.answers.set("/", redirect("/next"));
    const other = await web({ privateHosts: ["named.example"] });
    expect(await said(`http://named.example:${door.port}/`, other)).toMatch(REFUSED);
    expect(asked).toEqual(["named.example", "named.example"]);
  });

  it("may have a gateway's address beside its own", async () => {
    names.set("named.example", [["64:ff9b::7f00:1", "127.0.0.1"]]);
    door.answers.set("/", send("<p>direct"));
    const other = await web({ privateHosts: ["named.example"] });
    expect(await said(`http://named.example:${door.port}/`, other)).toContain("direct");
  });
});

describe("an exception", () => {
  it("is for a host, or for one port of it", async () => {
    door.answers.set("/", send("<p>door"));
    const byPort = await web({ privateHosts: [door.host] });
    expect(await said(door.url, byPort)).toContain("door");
    expect(await said(inner.url, byPort)).toMatch(REFUSED);
    expect(await said(`http://localhost:${door.port}/`, byPort)).toMatch(REFUSED);
    const byName = await web({ privateHosts: ["LocalHost"] });
    expect(await said(`http://localhost:${door.port}/`, byName)).toContain("door");
  });

  it("is none for what no website is", async () => {
    const other = await web({ privateHosts: ["169.254.169.254", "metadata.example", "[fe80::1]"] });
    names.set("metadata.example", [["169.254.169.254"]]);
    for (const host of ["169.254.169.254", "metadata.example", "[fe80::1]"])
      expect(await said(`http://${host}/`, other)).toMatch(REFUSED);
  });
});

it("robots.txt leads nowhere either", async () => {
  door.answers.set("/robots.txt", redirect(`http://127.0.0.1:${inner.port}/robots`));
  door.answers.set("/", send("<p>door"));
  const other = await web({ privateHosts: [door.host], ignoreRobots: false });
  expect(await said(door.url, other)).toMatch(REFUSED);
  door.answers.delete("/robots.txt");
});

it("no error tells what a private name leads to", async () => {
  names.set("intranet.example", [["10.11.12.13"]]);
  expect(await said("http://intranet.example/")).not.toContain("10.11");
});
