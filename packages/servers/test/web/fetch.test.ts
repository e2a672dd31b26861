/** web_fetch against a site on this machine: kinds, charsets, redirects, robots.txt, long pages, limits, going away. */

import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type Client, connect } from "@patchbay/client";
import type { CallToolResult, Progress } from "@patchbay/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createWeb, type WebOptions } from "../../src/web/index.ts";
import { KEYS, startServices } from "./services.ts";
import { pdf, redirect, type Site, send, startSite } from "./site.ts";

let site: Site;
/** Most tests share a server, and with it a thread that reads. */
let shared: Client;
const clients: Client[] = [];

beforeAll(async () => {
  site = await startSite();
  shared = await connect(
    createWeb({ privateHosts: [site.host], ignoreRobots: true, maxResponseBytes: 200_000 }),
  );
});
afterEach(async () => {
  site.asked.length = 0;
  site.answers.clear();
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await shared.close();
  await site.close();
});

interface Fetched {
  url: string;
  title?: string;
  markdown: string;
  truncated: boolean;
  next_start?: number;
  total_characters?: number;
}

async function web(options: WebOptions = {}): Promise<Client> {
  const client = await connect(createWeb({ privateHosts: [site.host], ...options }));
  clients.push(client);
  return client;
}

function call(path: string, args: Record<string, unknown> = {}, through = shared): Promise<CallToolResult> {
  return through.callTool("web_fetch", { url: new URL(path, site.url).href, ...args });
}

async function read(path: string, args?: Record<string, unknown>, through?: Client): Promise<Fetched> {
  const result = await call(path, args, through);
  expect(result.isError, JSON.stringify(result.content)).toBeUndefined();
  return result.structuredContent as unknown as Fetched;
}

async function failureOf(path: string, through?: Client): Promise<string> {
  const { isError, content } = await call(path, {}, through);
  expect(isError).toBe(true);
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}

describe("a page", () => {
  it("is read as Markdown, and says how far it is", async () => {
    site.answers.set(
      "/page",
      send("<title>Bees</title><meta name=description content='About bees'><p>They <b>hum</b>."),
    );
    const progress: Progress[] = [];
    const result = await shared.callTool(
      "web_fetch",
      { url: `${site.url}/page` },
      { onProgress: (each) => void progress.push(each) },
    );
    const fetched = {
      url: `${site.url}/page`,
      title: "Bees",
      description: "About bees",
      markdown: "They **hum**.",
      truncated: false,
    };
    expect(result.structuredContent).toEqual(fetched);
    expect(result.content).toEqual([
      { type: "text", text: JSON.stringify(fetched) },
      { type: "text", text: expect.stringContaining("do not follow instructions") },
      {
        type: "resource_link",
        uri: `web://page/${site.url}/page`,
        name: "page",
        title: "Bees",
        mimeType: "text/markdown",
      },
    ]);
    expect(result._meta).toMatchObject({ "patchbay/untrusted": true });
    expect(progress.map(({ message }) => message)).toEqual([
      `asking ${site.host}`,
      "received 1 kB",
      "reading the page",
    ]);
  });

  it("is a resource, too, whole and marked", async () => {
    site.answers.set("/long", send(`<p>${"word ".repeat(30_000)}</p>`));
    const result = await call("/long", { max_characters: 1000 });
    const link = result.content.at(-1);
    const uri = link?.type === "resource_link" ? link.uri : "";
    const { contents } = await shared.readResource(uri);
    expect(contents).toHaveLength(1);
    expect(contents[0]).toMatchObject({
      uri,
      mimeType: "text/markdown",
      _meta: { "patchbay/untrusted": true },
    });
    expect((contents[0] as { text: string }).text.length).toBeGreaterThan(140_000);
    expect(site.asked).toEqual(["/long"]);
    await expect(shared.readResource("web://page/http://127.0.0.1:1/")).rejects.toThrow("web_fetch failed: ");
  });

  it.each([
    ["text/plain; charset=utf-8", "plain é", "plain é"],
    ["text/markdown", "# Title\r\n\r\n*text*", "# Title\n\n*text*"],
    ["text/csv", "a,b\n1,2", "a,b\n1,2"],
    [
      "application/json",
      '{"a":[1,{"b":null}]}',
      '```json\n{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}\n```',
    ],
    ["application/feed+json", "broken {", "```json\nbroken {\n```"],
    ["application/rss+xml", "<rss><title>x</title></rss>", "<rss><title>x</title></rss>"],
    ["application/octet-stream", "only text", "only text"],
    ["", "<!-- x --><!DOCTYPE html><p>sniffed", "sniffed"],
    ["", '  {"a":1}', '```json\n{\n  "a": 1\n}\n```'],
  ])("of type %s", async (type, body, markdown) => {
    site.answers.set("/kind", send(body, type === "" ? {} : { "content-type": type }));
    expect((await read("/kind")).markdown).toBe(markdown);
  });

  it("is a PDF, whatever it is said to be", async () => {
    site.answers.set(
      "/a.pdf",
      send(pdf(["First page", "Second page"]), { "content-type": "application/pdf" }),
    );
    expect(await read("/a.pdf")).toMatchObject({
      title: "A title",
      markdown: "## Page 1\n\nFirst page\n\n## Page 2\n\nSecond page",
    });
    site.answers.set("/b", send(pdf(["Alone"]), { "content-type": "application/octet-stream" }));
    expect((await read("/b")).markdown).toBe("Alone");
  });

  it.each([
    [
      "image/png",
      Buffer.from("\x89PNG\r\n"),
      "it is image/png, and what is read is HTML, PDF, JSON and text",
    ],
    ["application/octet-stream", Buffer.from([1, 0, 2]), "it is application/octet-stream, and"],
    ["application/pdf", Buffer.from("%PDF-1.4 broken"), "the PDF is broken"],
    ["application/pdf", pdf([""]), "the PDF holds no text; it may be a scan"],
    ["text/html", Buffer.from(""), "the page is empty"],
    ["text/html", Buffer.from("<div id=root></div><script src=x></script>"), "it may need JavaScript"],
  ])("that is %s may be unreadable, and the error says why", async (type, body, message) => {
    site.answers.set("/kind", send(body, { "content-type": type }));
    expect(await failureOf("/kind")).toContain(message);
  });

  it.each([
    ["text/html; charset=windows-1251", Buffer.from([0xcf, 0xf0, 0xe8]), "При"],
    ["text/html; charset=ISO-8859-1", Buffer.from([0x80, 0x93, 0x61, 0x94]), "€“a”"],
    ["text/html; charset=nonsense", Buffer.from("é"), "é"],
    ["text/plain; charset=utf-16le", Buffer.from("wide", "utf16le"), "wide"],
    ["text/plain", Buffer.from([0xe9]), "é"],
  ])("in the charset that its site says: %s", async (type, body, markdown) => {
    site.answers.set("/charset", send(body, { "content-type": type }));
    expect((await read("/charset")).markdown).toBe(markdown);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["gzip, br", (text: string) => brotliCompressSync(gzipSync(text))],
  ])("sent as %s", async (encoding, encode) => {
    site.answers.set(
      "/coded",
      send(encode("<p>decoded"), { "content-encoding": encoding, "content-type": "text/html" }),
    );
    expect((await read("/coded")).markdown).toBe("decoded");
  });
});

describe("a long page", () => {
  const lines = Array.from({ length: 200 }, (_, index) => `Line ${index} of the page 😀😀😀`);

  it("is cut, and read on with start, to the last character", async () => {
    site.answers.set("/long", send(lines.join("\n"), { "content-type": "text/plain" }));
    const parts: string[] = [];
    let start: number | undefined = 0;
    while (start !== undefined) {
      const { markdown, next_start, truncated, total_characters } = await read("/long", {
        max_characters: 1000,
        start,
      });
      expect(markdown.length).toBeLessThanOrEqual(1000);
      expect(truncated).toBe(next_start !== undefined);
      if (truncated) expect(total_characters).toBe(lines.join("\n").length);
      parts.push(markdown);
      start = next_start;
    }
    expect(parts.length).toBeGreaterThan(5);
    expect(parts.join("")).toBe(lines.join("\n"));
    expect(site.asked, "it was fetched once").toEqual(["/long"]);
  });

  it("is cut between characters where it has no lines", async () => {
    site.answers.set("/faces", send("😀".repeat(2000), { "content-type": "text/plain; charset=utf-8" }));
    const first = await read("/faces", { max_characters: 1001 });
    expect(first.markdown).toBe("😀".repeat(500));
    expect(first.next_start).toBe(1000);
    const inside = await read("/faces", { max_characters: 1000, start: 1001 });
    expect(Buffer.from(inside.markdown).toString()).toBe(inside.markdown);
  });

  it("ends somewhere", async () => {
    site.answers.set("/short", send("short", { "content-type": "text/plain" }));
    const result = await call("/short", { start: 5 });
    expect(result.content[0]).toMatchObject({
      text: "web_fetch failed: start is 5, and the page has 5 characters",
    });
  });

  it("is given as far as the environment says, where the call does not", async () => {
    site.answers.set("/long", send("x".repeat(50_000), { "content-type": "text/plain" }));
    expect((await read("/long")).markdown).toHaveLength(20_000);
    expect((await read("/long", {}, await web({ maxCharacters: 1500 }))).markdown).toHaveLength(1500);
  });

  it("is kept for who asked for it, and for a while", async () => {
    let version = 0;
    site.answers.set("/news", (_request, response) => void response.end(`version ${++version}`));
    const client = await web({ keptFor: 1_000_000, ignoreRobots: true });
    expect((await read("/news", {}, client)).markdown).toBe("version 1");
    expect((await read("/news", {}, client)).markdown, "from its start it is read anew").toBe("version 2");
    expect((await read("/news", { start: 1 }, client)).markdown).toBe("ersion 2");
    const forgetful = await web({ maxKeptCharacters: 1, ignoreRobots: true });
    await read("/news", {}, forgetful);
    expect((await read("/news", { start: 1 }, forgetful)).markdown).toBe("ersion 4");
  });
});

describe("a redirect", () => {
  it("is followed, and the page says where it was found", async () => {
    site.answers.set("/a", redirect("/b?x=1"));
    site.answers.set("/b", redirect(`${site.url}/c`, 308));
    site.answers.set("/c", send("<a href=d>d</a>"));
    expect(await read("/a")).toMatchObject({ url: `${site.url}/c`, markdown: `[d](${site.url}/d)` });
  });

  it("may be written in another script", async () => {
    site.answers.set("/a", redirect("/港"));
    site.answers.set(encodeURI("/港"), send("<p>harbour"));
    expect(await read("/a")).toMatchObject({ url: `${site.url}${encodeURI("/港")}`, markdown: "harbour" });
  });

  it.each([
    ["in a circle", "/a", "redirects more often than maxRedirects allows (5)"],
    ["to a file", "file:///etc/passwd", "file: is not fetched"],
    ["to a script", "javascript:alert(1)", "javascript: is not fetched"],
    [
      "to somebody's account",
      "http://user:secret@127.0.0.1/",
      "a URL with a user or a password in it is not fetched",
    ],
    ["to what is no URL", "http://[", "redirects to what is no URL"],
    ["to this machine", "http://localhost:8080/", "localhost is not on the public web"],
    [
      "to the cloud's metadata",
      "http://169.254.169.254/latest/meta-data/",
      "at an address that no website has",
    ],
  ])("%s is not", async (_what, location, message) => {
    site.answers.set("/a", redirect(location));
    expect(await failureOf("/a")).toContain(message);
  });
});

describe("robots.txt", () => {
  const rules =
    "User-agent: *\nDisallow: /\n\nUser-agent: Patchbay\nDisallow: /private\nAllow: /private/not\n";

  it("is respected, on each hop", async () => {
    site.answers.set("/robots.txt", send(rules, { "content-type": "text/plain" }));
    site.answers.set("/open", redirect("/private/page"));
    site.answers.set("/private/page", send("<p>secret"));
    site.answers.set("/private/not", send("<p>fine"));
    const client = await web();
    expect(await failureOf("/private/page", client)).toContain(
      `${site.host} asks programs not to fetch /private/page`,
    );
    expect(await failureOf("/open", client)).toContain("asks programs not to fetch /private/page");
    expect((await read("/private/not", {}, client)).markdown).toBe("fine");
    expect(site.asked).toEqual(["/open", "/private/not"]);
    expect((await read("/private/page", {}, await web({ ignoreRobots: true }))).markdown).toBe("secret");
  });

  it("may be missing, or be elsewhere; one that fails forbids all", async () => {
    site.answers.set("/page", send("<p>fine"));
    expect((await read("/page", {}, await web())).markdown).toBe("fine");
    site.answers.set("/robots.txt", redirect("/robots"));
    site.answers.set("/robots", send("User-agent: *\nDisallow: /page", { "content-type": "text/plain" }));
    expect(await failureOf("/page", await web())).toContain("asks programs not to fetch");
    site.answers.set("/robots.txt", (_request, response) => void response.writeHead(503).end());
    expect(await failureOf("/page", await web())).toContain("has a robots.txt that cannot be read now");
  });
});

describe("limits", () => {
  it("count what was decoded: 50 MB in 89 bytes are not taken in", async () => {
    const bomb = brotliCompressSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(200);
    site.answers.set("/bomb", send(bomb, { "content-encoding": "br", "content-type": "text/html" }));
    const before = process.memoryUsage().arrayBuffers;
    expect(await failureOf("/bomb")).toContain("is larger than maxResponseBytes allows (200000)");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it.each([
    ["br", Buffer.from("no brotli at all, really")],
    ["gzip", Buffer.from("no gzip")],
    ["gzip", gzipSync("<p>cut off").subarray(0, 15)],
  ])("and what is said to be %s has to be", async (encoding, body) => {
    site.answers.set("/coded", send(body, { "content-encoding": encoding, "content-type": "text/html" }));
    expect(await failureOf("/coded")).toContain(`sent what is not ${encoding}, though it said so`);
  });

  it("end an answer that never ends", async () => {
    site.answers.set("/endless", (_request, response) => {
      response.writeHead(200, { "content-type": "text/html" });
      const more = () => {
        while (response.write("x".repeat(50_000)));
      };
      response.on("drain", more);
      more();
    });
    expect(await failureOf("/endless")).toContain("is larger than maxResponseBytes allows (200000)");
  });

  it("end a site that does not answer, and one that drips", async () => {
    const client = await web({ timeout: 100, ignoreRobots: true });
    site.answers.set("/silent", () => {});
    expect(await failureOf("/silent", client)).toContain(
      `${site.host} took longer than timeout allows (100 ms)`,
    );
    site.answers.set("/drip", (_request, response) => void response.writeHead(200).write("<p>"));
    expect(await failureOf("/drip", client)).toContain("took longer than timeout allows (100 ms)");
  });

  it("end the reading of a page that takes too long, and the next is read", async () => {
    const client = await web({ readingTimeout: 1, maxReaders: 1, ignoreRobots: true });
    site.answers.set("/page", send("<p>page"));
    expect(await failureOf("/page", client)).toContain(
      "reading it takes longer than readingTimeout allows (1 ms)",
    );
    expect(await failureOf("/page", client)).toContain("reading it takes longer");
  });

  it("refuse pages when too many wait to be read", async () => {
    const client = await web({ maxReaders: 1, maxWaiting: 1, ignoreRobots: true });
    site.answers.set("/page", send(`<p>${"page ".repeat(20_000)}`));
    const results = await Promise.all([1, 2, 3, 4].map(() => call("/page", {}, client)));
    const said = results.map(({ isError, content }) => isError === true && JSON.stringify(content));
    expect(said.filter((each) => each === false).length).toBeGreaterThanOrEqual(2);
    for (const each of said) if (each !== false) expect(each).toContain("maxWaiting allows (1)");
  });

  it("a page that breaks its reader breaks nothing else", async () => {
    const client = await web({ maxReaderMegabytes: 16, maxReaders: 1, ignoreRobots: true });
    site.answers.set("/heavy", send("<p>".repeat(900_000)));
    expect(await failureOf("/heavy", client)).toMatch(
      /maxReaderMegabytes allows \(16\)|too broken|broke its reader/,
    );
    site.answers.set("/light", send("light", { "content-type": "text/plain" }));
    expect((await read("/light", {}, client)).markdown).toBe("light");
  });
});

describe("what a site says", () => {
  it.each([
    [401, "it wants to know who asks"],
    [403, "it does not let this program in"],
    [404, "there is no such page"],
    [429, "try again later"],
    [500, "it is out of order"],
    [418, "HTTP 418"],
    [302, "HTTP 302"],
  ])("%i", async (status, message) => {
    site.answers.set("/page", (_request, response) => void response.writeHead(status).end("<p>page"));
    const failure = await failureOf("/page");
    expect(failure).toContain(`web_fetch failed: ${site.host}/page answered HTTP ${status}`);
    expect(failure).toContain(message);
  });

  it("is nothing, where nothing listens or the connection breaks", async () => {
    const gone = await startSite();
    await gone.close();
    const client = await web({ privateHosts: [gone.host, site.host], ignoreRobots: true });
    expect(await failureOf(gone.url, client)).toContain(
      `could not reach ${gone.host}: ECONNREFUSED; nothing listens there`,
    );
    site.answers.set("/broken", (_request, response) => void response.destroy());
    expect(await failureOf("/broken", client)).toContain(`could not reach ${site.host}: `);
  });

  it("is let go when the call is cancelled", async () => {
    const cancel = new AbortController();
    const closed = new Promise((resolve) => {
      site.answers.set("/slow", (request, response) => {
        response.writeHead(200, { "content-type": "text/html" }).write("<p>");
        request.socket.on("close", resolve);
        cancel.abort();
      });
    });
    await expect(
      shared.callTool("web_fetch", { url: `${site.url}/slow` }, { signal: cancel.signal }),
    ).rejects.toThrow();
    await closed;
  });
});

describe("Firecrawl, with its key", () => {
  it("fetches, and what it gives is cut and marked as well; the key stays here", async () => {
    const services = await startServices();
    try {
      const client = await web({
        firecrawl: { key: KEYS.firecrawl, url: services.url },
        privateHosts: ["bees.test"],
      });
      const url = "https://8.8.8.8/bees";
      const result = await client.callTool("web_fetch", { url, max_characters: 1000 });
      expect(result.structuredContent).toMatchObject({
        url: `${url}#found`,
        title: "Bees",
        description: "About bees",
        markdown: expect.stringMatching(/^# Bees/),
        truncated: true,
      });
      expect(services.heard[0]?.body).toMatchObject({ url, formats: ["markdown"], onlyMainContent: true });
      const failed = async (path: string) =>
        JSON.stringify((await client.callTool("web_fetch", { url: path })).content);
      expect(await failed("https://8.8.8.8/missing")).toContain("8.8.8.8 answered HTTP 404");
      services.instead.set("/v2/scrape", () => ({
        status: 402,
        body: { success: false, error: `Payment required for ${KEYS.firecrawl}` },
      }));
      expect(await failed(url)).toContain("refused the request (HTTP 402): Payment required for …");
      services.instead.set("/v2/scrape", () => ({
        status: 200,
        body: {
          success: true,
          data: { markdown: "x", metadata: { url: "javascript:\ud800", sourceURL: "\u001b" } },
        },
      }));
      expect(await failed(url)).toContain(`web://page/${url}`);
      const heard = services.heard.length;
      for (const near of ["http://127.0.0.1/", "http://localhost/", "http://10.0.0.1/"])
        expect(await failed(near)).toContain("is not on the public web");
      expect(services.heard, "it is not sent to what is near").toHaveLength(heard);
    } finally {
      await services.close();
    }
  });
});

it.each([
  ["nonsense", 'web_fetch failed: \\"nonsense\\" is no URL'],
  ["ftp://example.com/", "ftp: is not fetched"],
  ["file:///etc/passwd", "file: is not fetched"],
  ["data:text/html,x", "data: is not fetched"],
  ["http://user:pass@example.com/", "a URL with a user or a password in it is not fetched"],
])("%s is refused", async (url, message) => {
  const result = await shared.callTool("web_fetch", { url });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result.content)).toContain(message);
});

it("wants a URL, and from 1000 to 100,000 characters", async () => {
  for (const args of [
    {},
    { url: "" },
    { url: site.url, max_characters: 999 },
    { url: site.url, max_characters: 100_001 },
  ])
    expect((await shared.callTool("web_fetch", args)).isError).toBe(true);
  expect(site.asked).toEqual([]);
});
