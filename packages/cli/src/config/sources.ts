/** Where other applications keep their MCP servers, on each system. */

import { homedir } from "node:os";
import { posix, win32 } from "node:path";

/** An application whose servers can be taken over. */
export type Application = "claude-desktop" | "claude-code" | "cursor" | "vscode";

/** One place where an application keeps servers. */
export interface Source {
  application: Application;
  /** As its users know it. */
  title: string;
  file: string;
  /** The keys that lead to the object of servers. */
  keys: string[];
  /** The project that it belongs to, where it is not the user's own. */
  folder?: string;
}

/** The machine that is looked at. */
export interface Machine {
  platform: NodeJS.Platform;
  environment: NodeJS.ProcessEnv;
  home: string;
  folder: string;
}

export const APPLICATIONS: Readonly<Record<Application, string>> = {
  "claude-desktop": "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "VS Code",
};

/** This machine, and the working directory. */
export function thisMachine(): Machine {
  const { platform, env: environment } = process;
  return { platform, environment, home: homedir(), folder: process.cwd() };
}

/** Every place that is known; a project's own come before the user's, as they do in the applications themselves. */
export function sourcesOf({ platform, environment, home, folder }: Machine): Source[] {
  const { join } = platform === "win32" ? win32 : posix;
  const settings =
    platform === "win32"
      ? environment.APPDATA || join(home, "AppData", "Roaming")
      : platform === "darwin"
        ? join(home, "Library", "Application Support")
        : environment.XDG_CONFIG_HOME || join(home, ".config");
  const claude = join(environment.CLAUDE_CONFIG_DIR || home, ".claude.json");
  const all: Omit<Source, "title">[] = [
    {
      application: "claude-desktop",
      file: join(settings, "Claude", "claude_desktop_config.json"),
      keys: ["mcpServers"],
    },
    { application: "claude-code", file: claude, keys: ["projects", folder, "mcpServers"], folder },
    { application: "claude-code", file: join(folder, ".mcp.json"), keys: ["mcpServers"], folder },
    { application: "claude-code", file: claude, keys: ["mcpServers"] },
    { application: "cursor", file: join(folder, ".cursor", "mcp.json"), keys: ["mcpServers"], folder },
    { application: "cursor", file: join(home, ".cursor", "mcp.json"), keys: ["mcpServers"] },
    { application: "vscode", file: join(folder, ".vscode", "mcp.json"), keys: ["servers"], folder },
    { application: "vscode", file: join(settings, "Code", "User", "mcp.json"), keys: ["servers"] },
    // Where it kept them before it had a file for them.
    {
      application: "vscode",
      file: join(settings, "Code", "User", "settings.json"),
      keys: ["mcp", "servers"],
    },
  ];
  return all.map((source) => ({ ...source, title: APPLICATIONS[source.application] }));
}
