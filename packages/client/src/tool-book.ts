/** What a call needs to know of its tool, from the server's list: headers that repeat parameters, and the output schema. */

import {
  encodeHeaderValue,
  formatIssues,
  isObject,
  type JsonObject,
  type JsonSchema,
  type MirroredParam,
  mirroredParams,
  mirroredValue,
  type TaskSupport,
  type Validate,
} from "@patchbay/core";
import { InvalidResponseError, readable } from "./errors.ts";
import { tell } from "./tell.ts";

/** A tool, as far as calls of it are concerned. */
export class KnownTool {
  readonly #name: string;
  readonly #mirrored: readonly MirroredParam[];
  readonly #outputSchema: JsonSchema | undefined;
  #validate: Validate | undefined;
  #outputText: string | undefined;

  constructor(name: string, mirrored: readonly MirroredParam[], outputSchema: JsonSchema | undefined) {
    this.#name = name;
    this.#mirrored = mirrored;
    this.#outputSchema = outputSchema;
  }

  /** A list that was fetched again says the same, most often: what was compiled is kept then. */
  inherit(known: KnownTool | undefined): void {
    if (known === undefined || known.#validate === undefined || this.#outputSchema === undefined) return;
    const text = JSON.stringify(this.#outputSchema);
    if (text !== known.#outputText) return;
    this.#outputText = text;
    this.#validate = known.#validate;
  }

  /** Whether its results can be checked at once. */
  get isReady(): boolean {
    return this.#outputSchema === undefined || this.#validate !== undefined;
  }

  /** The headers that repeat arguments (streamable-http § Custom Headers from Tool Parameters). */
  headersFor(args: object): string[] | undefined {
    if (this.#mirrored.length === 0) return undefined;
    const headers: string[] = [];
    for (const { header, path } of this.#mirrored) {
      const value = mirroredValue(args as JsonObject, path);
      if (value !== undefined) headers.push(header, encodeHeaderValue(String(value)));
    }
    return headers;
  }

  /**
   * Makes ready for a result: called before the tool is, so that a schema that cannot be used is no surprise after it.
   *
   * @throws InvalidResponseError when the output schema is wrong, too large, or refers to elsewhere
   */
  async prepare(): Promise<void> {
    const schema = this.#outputSchema;
    if (schema === undefined) return;
    // Loaded for the first tool with such a schema: the compiler takes its time.
    const { boundedSchema } = await import("./schemas.ts");
    try {
      this.#validate = boundedSchema(schema);
      this.#outputText = JSON.stringify(schema);
    } catch (error) {
      const what = `the outputSchema of ${quoted(this.#name)} cannot be used`;
      throw new InvalidResponseError(`tools/list: ${what}: ${readable((error as Error).message)}`);
    }
  }

  /**
   * Checks what the tool gave (server/tools § Output Schema). One that failed owes nothing.
   *
   * @throws InvalidResponseError that names the place
   */
  check(result: JsonObject): void {
    if (this.#validate === undefined || result.isError === true) return;
    const { structuredContent } = result;
    if (structuredContent === undefined) {
      const what = `${quoted(this.#name)} has an outputSchema, but its result has no structuredContent`;
      throw new InvalidResponseError(`tools/call: ${what}`);
    }
    const issues = this.#validate(structuredContent);
    if (issues === undefined) return;
    const placed = issues.map(({ path, message }) => ({ path: placeOf(path), message: readable(message) }));
    throw new InvalidResponseError(
      `tools/call: the result of ${quoted(this.#name)}: ${formatIssues(placed)}`,
    );
  }
}

/** All tools that were listed. */
export class ToolBook {
  /** Whether parameters are repeated in headers. */
  readonly mirrors: boolean;
  readonly #checks: boolean;
  readonly #onWarning: ((warning: Error) => void) | undefined;
  #tools = new Map<string, KnownTool>();
  /** Of those that may run as tasks (2025-11-25). */
  #taskSupport = new Map<string, TaskSupport>();
  /** Those that do nothing twice when they are called twice, as they say (server/tools § ToolAnnotations). */
  #repeatable = new Set<string>();
  #learned = false;

  /**
   * @param mirrors whether parameters are repeated in headers
   * @param checks whether the revision has output schemas
   */
  constructor(mirrors: boolean, checks: boolean, onWarning: ((warning: Error) => void) | undefined) {
    this.mirrors = mirrors;
    this.#checks = checks;
    this.#onWarning = onWarning;
  }

  get(name: string): KnownTool | undefined {
    return this.#tools.get(name);
  }

  /** Whether the list was fetched once. */
  get isLearned(): boolean {
    return this.#learned;
  }

  /** Whether a tool runs as a task, as the list says (2025-11-25, server/tools § Execution). */
  taskSupport(name: string): TaskSupport {
    return this.#taskSupport.get(name) ?? "forbidden";
  }

  /** Whether a tool says that it changes nothing, or nothing more when it is called again. */
  isRepeatable(name: string): boolean {
    return this.#repeatable.has(name);
  }

  /** Learns the whole list, and gives the tools of it that may be used. */
  learn(list: JsonObject[]): JsonObject[] {
    const tools = new Map<string, KnownTool>();
    const taskSupport = new Map<string, TaskSupport>();
    const repeatable = new Set<string>();
    const usable = list.filter((tool) => {
      const name = tool.name as string;
      const mirrored = this.#mirroredOf(name, tool.inputSchema as JsonSchema);
      if (mirrored === undefined) return false;
      const { readOnlyHint, idempotentHint } = isObject(tool.annotations) ? tool.annotations : {};
      if (readOnlyHint === true || idempotentHint === true) repeatable.add(name);
      const support = isObject(tool.execution) ? tool.execution.taskSupport : undefined;
      if (support === "optional" || support === "required") taskSupport.set(name, support);
      const output =
        this.#checks && isObject(tool.outputSchema) ? (tool.outputSchema as JsonSchema) : undefined;
      if (mirrored.length > 0 || output !== undefined) {
        const known = new KnownTool(name, mirrored, output);
        known.inherit(this.#tools.get(name));
        tools.set(name, known);
      }
      return true;
    });
    this.#tools = tools;
    this.#taskSupport = taskSupport;
    this.#repeatable = repeatable;
    this.#learned = true;
    return usable;
  }

  /** Nothing for a tool that must not be used: its headers would be wrong. */
  #mirroredOf(name: string, schema: JsonSchema): readonly MirroredParam[] | undefined {
    if (!this.mirrors) return [];
    try {
      return mirroredParams(schema);
    } catch (error) {
      const what = `The tool ${quoted(name)} is left out: ${readable((error as Error).message)}`;
      tell(this.#onWarning, new InvalidResponseError(what));
      return undefined;
    }
  }
}

function placeOf(path: string): string {
  if (path === "") return "structuredContent";
  return path.startsWith("[") ? `structuredContent${path}` : `structuredContent.${path}`;
}

function quoted(name: string): string {
  return `"${readable(name, 100)}"`;
}
