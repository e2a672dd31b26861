/** The files server as `patchbay serve files` starts it: what it is told on the command line. */

import { type Builtin, Settings, SettingsError } from "../builtin.ts";

export const files: Builtin = {
  description: "Reads, writes, finds and watches files in the folders that it may use",
  operand: {
    name: "folder",
    description:
      "what it may use; without one, the folders that the client lends it (its roots), over stdio only",
    many: true,
  },
  options: [
    { flags: "--read-only", description: "offer nothing that changes files" },
    { flags: "--allow-delete", description: "offer to delete files and folders" },
    { flags: "--allow-hard-links", description: "touch files that have other names, which may be elsewhere" },
    { flags: "--limit <limit>", description: "another limit, such as maxReadBytes=1000000", many: true },
  ],
  async load(given) {
    const settings = new Settings(given);
    const { createFiles } = await import("./index.ts");
    try {
      return await createFiles({
        folders: settings.operands,
        readOnly: settings.has("read-only"),
        allowDelete: settings.has("allow-delete"),
        allowHardLinks: settings.has("allow-hard-links"),
        ...Object.fromEntries(settings.texts("limit").map(limitOf)),
      });
    } catch (error) {
      if (error instanceof SettingsError) throw error;
      throw new SettingsError(`files: ${(error as Error).message}`, { cause: error });
    }
  },
};

function limitOf(text: string): [name: string, value: number] {
  const [, name, value] = /^(\w+)=(\d+)$/.exec(text) ?? [];
  if (name === undefined)
    throw new SettingsError(`--limit takes a name and a number, such as maxReadBytes=1000000, not "${text}"`);
  return [name, Number(value)];
}
