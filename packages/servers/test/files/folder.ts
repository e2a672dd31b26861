/** A folder that a files server may use, with a client of that server; and what lies beside it, which it may not. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Client, type ConnectOptions, connect } from "@patchbay/client";
import type { CallToolResult, ContentBlock } from "@patchbay/core";
import { createFiles, type FilesOptions } from "../../src/files/index.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test looks into results of every shape
type Structured = Record<string, any>;

export interface Folder {
  /** What may be used. */
  readonly root: string;
  /** What lies beside it. */
  readonly outside: string;
  readonly client: Client;
  path(...names: string[]): string;
  put(path: string, content: string | Uint8Array): Promise<string>;
  /** The structured content of a call that has to succeed. */
  call(tool: string, args: Structured): Promise<Structured>;
  /** The first block of a call that has to succeed. */
  block(tool: string, args: Structured): Promise<ContentBlock>;
  /** What a call that has to fail says. */
  failure(tool: string, args: Structured): Promise<string>;
  close(): Promise<void>;
}

export async function openFolder(
  options: FilesOptions = {},
  connecting: ConnectOptions = {},
  create = createFiles,
): Promise<Folder> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "patchbay-files-")));
  const [root, outside] = [join(base, "root"), join(base, "outside")];
  await mkdir(root);
  await mkdir(outside);
  await writeFile(join(outside, "secret.txt"), "SECRET\n");
  const client = await connect(await create({ folders: [root], ...options }), connecting);
  const call = (tool: string, args: Structured) => client.callTool(tool, args);
  const succeeding = async (tool: string, args: Structured) => {
    const result = await call(tool, args);
    if (result.isError) throw new Error(textOf(result));
    return result;
  };
  return {
    root,
    outside,
    client,
    path: (...names) => join(root, ...names),
    async put(path, content) {
      const file = join(root, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
    call: async (tool, args) => (await succeeding(tool, args)).structuredContent as Structured,
    block: async (tool, args) => (await succeeding(tool, args)).content[0] as ContentBlock,
    async failure(tool, args) {
      const result = await call(tool, args);
      if (!result.isError) throw new Error(`${tool} succeeded: ${textOf(result)}`);
      return textOf(result);
    },
    async close() {
      await client.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

export function textOf({ content }: CallToolResult): string {
  const [block] = content;
  return block?.type === "text" ? block.text : "";
}
