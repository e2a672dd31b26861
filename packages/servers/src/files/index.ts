/** The files server: reads, writes, finds and watches files in the folders that it may use, and nowhere else. */

import { ErrorCode, ProtocolError } from "@patchbay/core";
import { McpServer } from "@patchbay/server";
import { offerEditFile } from "./edit-file.ts";
import { type FilesLimits, filesLimits } from "./limits.ts";
import { offerListDirectory } from "./list-directory.ts";
import { offerDelete, offerMove } from "./moving.ts";
import { offerReadFile } from "./read-file.ts";
import { offerResources } from "./resources.ts";
import { type Roots, rootsOf, rootsOfClient } from "./roots.ts";
import { offerSearchFiles } from "./search-files.ts";
import { offerStat } from "./stat.ts";
import { watchSubscribed } from "./subscribing.ts";
import { Turns } from "./turns.ts";
import { Watching } from "./watching.ts";
import type { Workspace } from "./workspace.ts";
import { offerWriteFile } from "./write-file.ts";

export type { FilesLimits } from "./limits.ts";

export interface FilesOptions extends Partial<FilesLimits> {
  /** The folders that may be used. Without one it asks each client for its roots: then over stdio alone. */
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
    turns: new Turns(),
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

  const contents = offerResources(server, workspace, roots);
  if (roots === undefined || contents === undefined) refuseWithoutFolders(server);
  else {
    const watching = new Watching(limits.maxWatchedFolders);
    watchSubscribed(server, roots, watching, limits.maxWatchedFolders);
    await contents.refresh();
    const refresh = () => void contents.refresh();
    for (const folder of roots.folders) {
      await watching.watch(folder, roots, refresh).catch((error) => server.report(error, "watching"));
    }
  }
  return server;
}

/** A client elsewhere must not choose which folders of this machine it reads; and where nobody said, nothing is watched. */
function refuseWithoutFolders(server: McpServer): void {
  server.use(({ method, exchange }, next) => {
    const isFar = exchange.access !== undefined && (method === "tools/call" || method === "resources/read");
    if (isFar || method === "resources/subscribe") {
      const why = isFar ? "over HTTP" : "to watch files";
      const advice = `${why} the server has to be started with folders: patchbay serve files ./project`;
      throw new ProtocolError(ErrorCode.InvalidRequest, advice);
    }
    return next();
  });
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
