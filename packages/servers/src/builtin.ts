/** What is known of a server that comes with Patchbay before its code is loaded: what it is told when it is started. */

import type { McpServer } from "@patchbay/server";

/** A server that comes with Patchbay. */
export interface Builtin {
  /** What it offers, in one line. */
  description: string;
  /** What may follow its name on a command line, such as folders. Default: nothing. */
  operand?: BuiltinOperand;
  /** Its own options. Default: none. */
  options?: readonly BuiltinOption[];
  /** The environment variables that it reads: who starts it hands them to it, and to no other. Default: none. */
  environment?: readonly string[];
  /**
   * Loads its code and makes one.
   *
   * @throws SettingsError when what it is told cannot be right; NotConfiguredError when what it needs is missing
   */
  load(settings?: Partial<BuiltinSettings>): Promise<McpServer>;
}

export interface BuiltinOperand {
  /** In its help, such as `folder`. */
  name: string;
  description: string;
  /** Whether there may be several. Default false. */
  many?: boolean;
}

export interface BuiltinOption {
  /** As it is written: `--allow-delete`, or `--max-rows <n>` where it takes a value. */
  flags: string;
  description: string;
  /** Whether it may be repeated; its value is a list then. Default false. */
  many?: boolean;
}

/** What a server is told when it is started. */
export interface BuiltinSettings {
  /** In the order in which they were written. */
  operands: readonly string[];
  /** By their names without dashes in front: `allow-delete` → true, `max-rows` → "100". */
  options: Readonly<Record<string, string | true | readonly string[] | undefined>>;
  /** Where it looks for its variables. Default: the process's environment. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Tells the operator what they should know, such as what is left out. Default: a line on stderr. */
  warn(text: string): void;
}

/** What a server was told cannot be right; the message names the option or the variable, and is shown as it is. */
export class SettingsError extends Error {
  override readonly name: string = "SettingsError";
}

/** A server lacks what it cannot be without, such as a database's address, or a sandbox. */
export class NotConfiguredError extends SettingsError {
  override readonly name = "NotConfiguredError";
}

/** What a server is told, with defaults, and read by the type that it should have. */
export class Settings implements BuiltinSettings {
  readonly operands: readonly string[];
  readonly options: BuiltinSettings["options"];
  readonly environment: BuiltinSettings["environment"];
  readonly warn: BuiltinSettings["warn"];

  constructor({
    operands = [],
    options = {},
    environment = process.env,
    warn = (text) => console.error(`warning: ${text}`),
  }: Partial<BuiltinSettings> = {}) {
    this.operands = operands;
    this.options = options;
    this.environment = environment;
    this.warn = warn;
  }

  /** Whether an option that takes no value was given. */
  has(option: string): boolean {
    return this.options[option] !== undefined;
  }

  /** The value of an option, if it was given. */
  text(option: string): string | undefined {
    const value = this.options[option];
    return typeof value === "string" ? value : undefined;
  }

  /** All values of an option that may be repeated. */
  texts(option: string): readonly string[] {
    const value = this.options[option];
    return Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
  }

  /**
   * A whole number, if the option was given.
   *
   * @throws SettingsError when it is none, or below `least` or above `most`
   */
  count(option: string, least = 1, most = Number.MAX_SAFE_INTEGER): number | undefined {
    return counted(`--${option}`, this.text(option), least, most);
  }

  /** A variable of the environment; an empty one counts as not set. */
  variable(name: string): string | undefined {
    return this.environment[name] || undefined;
  }

  /**
   * A whole number from the environment, if it is set.
   *
   * @throws SettingsError as `count` does
   */
  countVariable(name: string, least = 1, most = Number.MAX_SAFE_INTEGER): number | undefined {
    return counted(name, this.variable(name), least, most);
  }
}

/** The name of an option, without its dashes and its value: `max-rows`. */
export function optionName({ flags }: BuiltinOption): string {
  return flags.replace(/^--/, "").replace(/ .*/, "");
}

function counted(name: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least && count <= most) return count;
  const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`;
  throw new SettingsError(`${name} takes a whole number from ${least}${upTo}, not "${text}"`);
}
