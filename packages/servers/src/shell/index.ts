/** The shell server: commands of bash, each in a sandbox. */

import { type McpServer, ResourceNotFoundError } from "@patchbay/server";
import { z } from "zod";
import { positive, type SandboxOptions } from "../sandbox/limits.ts";
import { fileContents } from "../sandbox/media.ts";
import { offerSandboxed } from "../sandbox/offer.ts";
import type { Sandbox } from "../sandbox/open.ts";
import { ownerOf } from "../sandbox/owner.ts";
import { type Outcome, run, withNotes } from "../sandbox/run.ts";
import { Telling } from "../sandbox/telling.ts";
import { type FolderLimits, Folders } from "./folders.ts";

export interface ShellOptions extends SandboxOptions, Partial<FolderLimits> {
  /** A folder of the operator's, in which working folders are kept between calls. Default: none are. */
  folders?: string;
}

/** Linux takes no longer argument. */
const MAX_COMMAND_BYTES = 120_000;
/** An archive has more bytes than its files: a header and padding for each. */
const ARCHIVE_BYTES = 2;

const Output = z.object({
  returncode: z
    .number()
    .describe(
      "The exit code; 124 when it took too long, 127 when the command was not found, 137 when it was killed",
    ),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean().describe("Whether it wrote more than is kept: then the middle was left out"),
});

const INSTRUCTIONS =
  "Commands run in a sandbox: they see the programs of this machine, but no network, none of its files and nothing of " +
  "other calls. The working folder is /box; what is written there is gone after the call, unless a folder is named. " +
  "Write to >&2, not to /dev/stderr.";

/**
 * Makes the server.
 *
 * @throws Error that names an option that cannot be right. Where there is no sandbox it offers nothing, and says why.
 */
export function createShell(options: ShellOptions = {}): Promise<McpServer> {
  const folders =
    options.folders === undefined
      ? undefined
      : new Folders(options.folders, {
          maxFolders: positive("maxFolders", options.maxFolders ?? 100),
          folderTtl: positive("folderTtl", options.folderTtl ?? 7 * 24 * 60 * 60 * 1000),
        });
  const about = {
    name: "shell",
    version: "0.1.0",
    title: "Shell",
    description: "Commands of bash, each in a sandbox",
  };
  return offerSandboxed(
    about,
    ["bash", "open_folder", "delete_folder"],
    options,
    INSTRUCTIONS,
    (server, sandbox) => {
      offerBash(server, sandbox, folders);
      if (folders !== undefined) offerFolders(server, folders, options.folderTtl);
    },
  );
}

function offerBash(server: McpServer, sandbox: Sandbox, folders: Folders | undefined): void {
  const { timeout, maxTimeout, maxFolderBytes } = sandbox.limits;
  const folder = z
    .string()
    .max(100)
    .optional()
    .describe(
      "A handle that open_folder gave: the command works in that folder, and what it changes there stays",
    );
  const input = z.object({
    command: z
      .string()
      .refine((text) => Buffer.byteLength(text) <= MAX_COMMAND_BYTES && !text.includes("\0"), {
        message: `a command has at most ${MAX_COMMAND_BYTES} bytes, and no NUL`,
      })
      .describe("What bash is to run; several lines are fine"),
    timeout: z.number().positive().max(maxTimeout).default(timeout).describe("Seconds that it may take"),
    ...(folders === undefined ? {} : { folder }),
  });

  server.tool(
    "bash",
    {
      title: "Run a command",
      description: `Runs a command of bash${sandbox.filter === undefined ? "" : " in a sandbox"}, and tells its exit code and what it wrote.`,
      input,
      output: Output,
      annotations: {
        readOnlyHint: false,
        destructiveHint: folders !== undefined || sandbox.filter === undefined,
        idempotentHint: false,
        openWorldHint: sandbox.filter === undefined,
      },
    },
    async (args, ctx) => {
      const { command, timeout } = args;
      const handle = (args as { folder?: string }).folder;
      if (command.trim() === "")
        return { returncode: 1, stdout: "", stderr: "the command is empty\n", truncated: false };
      const telling = new Telling(ctx, timeout);
      const request = {
        command: ["bash", "-c", command],
        timeout,
        signal: ctx.signal,
        onText: telling.write,
      };
      try {
        if (folders === undefined || handle === undefined) return shown(await run(sandbox, request));
        const outcome = await folders.use(handle, ownerOf(ctx), maxFolderBytes * ARCHIVE_BYTES, (files) =>
          run(sandbox, { ...request, files }),
        );
        return shown(outcome, outcome.filesKept ? [] : ["the folder is left as it was before"]);
      } finally {
        telling.end();
      }
    },
  );
}

function shown({ returncode, stdout, stderr, truncated }: Outcome, notes: readonly string[] = []) {
  return { returncode, stdout, stderr: withNotes(stderr, notes), truncated };
}

function offerFolders(server: McpServer, folders: Folders, folderTtl = 7 * 24 * 60 * 60 * 1000): void {
  const hours = Math.round(folderTtl / 3_600_000);
  server.tool(
    "open_folder",
    {
      title: "Open a working folder",
      description: `Makes an empty folder that commands can work in, one call after another. It is deleted when it was not used for ${hours} hours.`,
      output: z.object({ folder: z.string().describe("Its handle, for bash") }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    (_args, ctx) => ({ folder: folders.create(ownerOf(ctx)) }),
  );
  server.tool(
    "delete_folder",
    {
      title: "Delete a working folder",
      description: "Deletes a folder that open_folder made, with all that is in it.",
      input: z.object({ folder: z.string().max(100) }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: false,
      },
    },
    async ({ folder }, ctx) => {
      await folders.delete(folder, ownerOf(ctx));
      return "deleted";
    },
  );
  server.resourceTemplate(
    "shell://folders/{folder}/{+path}",
    { name: "file", title: "File", description: "A file in a working folder" },
    (uri, { folder = "", path = "" }, ctx) => {
      const content = folders.files(folder, ownerOf(ctx))?.get(path);
      if (content === undefined) throw new ResourceNotFoundError(uri);
      return fileContents(uri, path, content);
    },
  );
}
