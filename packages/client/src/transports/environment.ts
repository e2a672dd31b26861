/** What a server process gets to see of our environment: what programs need to run, and no secrets. */

const POSIX = ["PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "LOGNAME"];
const WINDOWS = [
  "APPDATA",
  "COMSPEC",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "NUMBER_OF_PROCESSORS",
  "OS",
  "PATH",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "TMP",
  "USERNAME",
  "USERPROFILE",
  "WINDIR",
];

/** The allow-listed part of our environment, and what the target declares on top of it. */
export function environmentFor(
  declared: Readonly<Record<string, string>> = {},
  own: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const allowed = new Set(platform === "win32" ? WINDOWS : POSIX);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    // Windows' names are the same in any case.
    const key = platform === "win32" ? name.toUpperCase() : name;
    if (value !== undefined && (allowed.has(key) || key.startsWith("LC_"))) environment[name] = value;
  }
  return { ...environment, ...declared };
}
