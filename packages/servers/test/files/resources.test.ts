/** Files as resources: listed, read, completed, watched; and the folders that a client lends. */

import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { type Change, type ChangeFilter, type Client, connect } from "@patchbay/client";
import type { Era } from "@patchbay/core";
import { serveHttp } from "@patchbay/server/http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFiles } from "../../src/files/index.ts";
import { type Folder, openFolder, textOf } from "./folder.ts";

const ERAS: Era[] = ["legacy", "modern"];

let folder: Folder;
beforeAll(async () => {
  folder = await openFolder({ maxFileBytes: 1000, maxEntries: 10 });
  await folder.put("a b.md", "# A\n");
  await folder.put("deep/50%.bin", Buffer.from([0, 1, 255]));
  await folder.put("deep/what?.txt", "what\n");
});
afterAll(() => folder.close());

const uriOf = (path: string) => `file://${folder.root}/${path}`;
const read = async (uri: string) => (await folder.client.readResource(uri)).contents;

describe("a file:// URI", () => {
  test("is read as text, as bytes, or as the names in a folder", async () => {
    expect(await read(uriOf("a%20b.md"))).toEqual([
      { uri: uriOf("a%20b.md"), mimeType: "text/markdown", text: "# A\n" },
    ]);
    expect(await read(uriOf("deep/50%25.bin"))).toEqual([
      { uri: uriOf("deep/50%25.bin"), mimeType: "application/octet-stream", blob: "AAH/" },
    ]);
    expect(await read(uriOf("deep"))).toEqual([
      { uri: uriOf("deep"), mimeType: "inode/directory", text: "50%.bin\nwhat?.txt" },
    ]);
  });

  test("is kept from leaving the folders, however it is written", async () => {
    await symlink(folder.outside, folder.path("out"));
    const leaving = [
      `file://${folder.outside}/secret.txt`,
      uriOf("../outside/secret.txt"),
      uriOf("%2e%2e/outside/secret.txt"),
      uriOf("deep/..%2F..%2Foutside/secret.txt"),
      uriOf("deep/..%5C..%5Coutside/secret.txt"),
      uriOf("out/secret.txt"),
      "file:///etc/passwd",
      `file://far.example${folder.root}/a.md`,
      `file:///${folder.root}/../outside/secret.txt`,
      uriOf("a%00b"),
      uriOf("deep/what?.txt"),
    ];
    for (const uri of leaving) {
      const failure = await read(uri).then(
        (contents) => expect.fail(`${uri} gave ${JSON.stringify(contents)}`),
        (error) => error,
      );
      expect(failure.code, uri).toBe(-32602);
    }
    await rm(folder.path("out"));
  });

  test("of what is not there is not found; one of what is too large says so", async () => {
    await expect(read(uriOf("gone.txt"))).rejects.toMatchObject({
      code: -32602,
      message: `Resource not found: ${uriOf("gone.txt")}`,
    });
    await folder.put("deep/large.bin", Buffer.alloc(1001));
    await expect(read(uriOf("deep/large.bin"))).rejects.toMatchObject({
      code: -32600,
      data: { limit: "maxFileBytes", value: 1000 },
    });
    await rm(folder.path("deep/large.bin"));
  });

  test("is completed as it is typed", async () => {
    const complete = async (value: string) => {
      const ref = { type: "ref/resource" as const, uri: "file:///{+path}" };
      return (await folder.client.complete({ ref, argument: { name: "path", value } })).completion.values;
    };
    const typed = folder.root.slice(1);
    expect(await complete("")).toEqual([`${typed}/`]);
    expect(await complete(typed.slice(0, -1))).toEqual([`${typed}/`]);
    expect(await complete(`${typed}/`)).toEqual([`${typed}/a%20b.md`, `${typed}/deep/`]);
    expect(await complete(`${typed}/deep/w`)).toEqual([`${typed}/deep/what%3F.txt`]);
    expect(await read(`file:///${typed}/deep/what%3F.txt`)).toMatchObject([{ text: "what\n" }]);
    expect(await complete(`${folder.outside.slice(1)}/`)).toEqual([]);
    expect(await complete("%")).toEqual([]);
  });
});

describe.each(ERAS)("a %s client", (era) => {
  let own: Folder;
  beforeAll(async () => {
    own = await openFolder({}, { era });
    await own.put("a.txt", "1");
    await mkdir(own.path("box"));
  });
  afterAll(() => own.close());

  /** Listens, and gives what tells of the next change. */
  async function listening(
    filter: ChangeFilter,
  ): Promise<{ next(): Promise<Change>; close(): Promise<void> }> {
    const heard: Change[] = [];
    let wake = () => {};
    const subscription = await own.client.listen(filter, (change) => {
      heard.push(change);
      wake();
    });
    return {
      async next() {
        while (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        return heard.shift() as Change;
      },
      close: async () => void (await subscription.close()),
    };
  }

  test("is told when a file that it watches is changed, replaced, removed and there again", async () => {
    const uri = `file://${own.path("a.txt")}`;
    const { next, close } = await listening({ resourceSubscriptions: [uri] });
    const changes = [
      () => writeFile(own.path("a.txt"), "2"),
      () => own.call("write_file", { path: "a.txt", content: "3" }),
      () => rename(own.path("a.txt"), own.path("b.txt")),
      () => rename(own.path("b.txt"), own.path("a.txt")),
    ];
    for (const change of changes) {
      await change();
      expect(await next()).toMatchObject({ uri });
    }
    await close();
  });

  test("is told when a folder has other entries", async () => {
    const uri = `file://${own.path("box")}`;
    const { next, close } = await listening({ resourceSubscriptions: [uri] });
    await own.put("box/new.txt", "");
    expect(await next()).toMatchObject({ uri });
    await close();
  });

  test("cannot watch what is outside", async () => {
    const filter = { resourceSubscriptions: [`file://${own.outside}/secret.txt`] };
    const listening = own.client.listen(filter, () => {});
    if (era === "modern") expect((await listening).honored).toEqual({});
    else await expect(listening).rejects.toThrow("is outside of");
  });

  test("is listed the folder and the files right in it, and told when they are others", async () => {
    const names = async () => (await own.client.listResources()).map(({ name }) => name);
    const { next, close } = await listening({ resourcesListChanged: true });
    await own.put("fresh.txt", "");
    await next();
    expect((await names()).sort()).toEqual(["a.txt", "fresh.txt", "root"]);
    await rm(own.path("fresh.txt"));
    await next();
    expect((await names()).sort()).toEqual(["a.txt", "root"]);
    await close();
  });
});

describe("folders that the client lends", () => {
  let lent: Folder;
  beforeAll(async () => {
    lent = await openFolder();
    await lent.put("lent.txt", "lent\n");
  });
  afterAll(() => lent.close());

  test.each(ERAS)("are used, and nothing else (%s)", async (era) => {
    const roots = [{ uri: `file://${lent.root}` }, { uri: "file:///no/such/folder" }];
    const client = await connect(await createFiles(), { era, roots });
    const call = async (tool: string, args: object) => textOf(await client.callTool(tool, { ...args }));
    expect(await call("read_file", { path: "lent.txt" })).toBe("lent\n");
    expect(await call("read_file", { path: `${lent.outside}/secret.txt` })).toContain(
      "is outside of the folders",
    );
    expect(await call("list_directory", {})).toContain(lent.root);
    await call("write_file", { path: "made.txt", content: "made" });
    expect(await call("read_file", { path: "made.txt" })).toBe("made");
    const { contents } = await client.readResource(`file://${lent.path("lent.txt")}`);
    expect(contents).toMatchObject([{ text: "lent\n" }]);
    await client.close();
  });

  test("have to be lent", async () => {
    const server = await createFiles();
    const failure = async (options: object) => {
      const client: Client = await connect(server, options);
      const text = textOf(await client.callTool("list_directory", {}));
      await client.close();
      return text;
    };
    expect(await failure({})).toContain("the client names no roots; start the server with folders");
    expect(await failure({ roots: [{ uri: "file:///no/such" }] })).toContain("none is a folder here");
  });

  test("are not asked for over HTTP: a client elsewhere does not choose what it may read here", async () => {
    const running = await serveHttp(await createFiles(), { port: 0 });
    for (const era of ERAS) {
      const client = await connect(running.url, { era, roots: [{ uri: "file:///" }] });
      expect(await client.listTools()).toEqual([]);
      await expect(client.callTool("read_file", { path: "/etc/passwd" })).rejects.toThrow("Unknown tool");
      await expect(client.readResource("file:///etc/passwd")).rejects.toThrow("not found");
      await client.close();
    }
    await running.close();
  });
});
