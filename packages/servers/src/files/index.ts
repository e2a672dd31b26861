/** The files server: reads, writes, finds and watches files in the folders that it may use, and nowhere else. */

import { McpServer } from "@patchbay/server";
import { Readers } from "../web/reading/readers.ts";
import { offerEditFile } from "./edit-file.ts";
import { type FilesLimits, filesLimits } from "./limits.ts";
import { offerListDirectory } from "./list-directory.ts";
import { offerDelete, offerMove } from "./moving.ts";
import { offerReadFile } from "./read-file.ts";
import { offerFiles, offerFilesIn } from "./resources.ts";
import { type Roots, rootsOf, rootsOfClient } from "./roots.ts";
import { offerSearchFiles } from "./search-files.ts";
import { offerStat } from "./stat.ts";
import { Turns } from "./turns.ts";
import type { Workspace } from "./workspace.ts";
import { offerWriteFile } from "./write-file.ts";

export type { FilesLimits } from "./limits.ts";

export interface FilesOptions extends Partial<FilesLimits> {
  /** The folders that may be used. Without one it asks each client for its roots, and offers nothing over HTTP. */
  folders?: readonly string[];
  /** Nothing can be changed. Default false. */
  readOnly?: boolean;
  /** Files can be deleted. Default false. */
  allowDelete?: boolean;
  /** Files with several names (hard links) are read and replaced, too. Default false: another name may be outside. */
  allowHardLinks?: boolean;
}

/**
 * Makes the server.
 *
 * @throws Error when a folder is none, or a limit cannot be one
 */
export async function createFiles(options: FilesOptions = {}): Promise<McpServer> {
  const { folders = [], readOnly = false, allowDelete = false, allowHardLinks = false, ...given } = options;
  if (readOnly && allowDelete) throw new Error("readOnly and allowDelete exclude each other");
  const limits = filesLimits(given);
  const roots = folders.length > 0 ? await rootsOf(folders) : undefined;
  const workspace: Workspace = {
    limits,
    allowed: { hardLinks: allowHardLinks },
    readers: new Readers(limits),
    turns: new Turns(),
    // A client elsewhere must not choose which folders of this machine it reads: what came by HTTP has an access.
    enabled: roots === undefined ? ({ access }) => access === undefined : undefined,
    rootsFor: (context) => roots ?? rootsOfClient(context),
  };
  const server = new McpServer(
    {
      name: "files",
      version: "0.1.0",
      title: "Files",
      description: "Reads, writes, finds and watches files in the folders that it may use",
    },
    { instructions: instructionsFor(roots, readOnly), offers: ["resources"] },
  );

  offerReadFile(server, workspace);
  offerListDirectory(server, workspace);
  offerSearchFiles(server, workspace);
  offerStat(server, workspace);
  if (!readOnly) {
    offerWriteFile(server, workspace);
    offerEditFile(server, workspace);
    offerMove(server, workspace);
    if (allowDelete) offerDelete(server, workspace);
  }

  if (roots === undefined) offerFiles(server, workspace);
  else await offerFilesIn(roots, server, workspace);
  return server;
}

function instructionsFor(roots: Roots | undefined, readOnly: boolean): string {
  const where =
    roots === undefined
      ? "Files in the folders that the user's application has opened (its roots)"
      : `Files in ${roots.folders.join(", ")}`;
  const changing = readOnly
    ? "They can be read, not changed."
    : "Before you change a file, read it; change parts with edit_file, and use dry_run where you are not sure.";
  return `${where}. A relative path is one in the first folder. Find files with search_files before you guess a path. ${changing}`;
}
