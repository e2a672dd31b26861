/** Tools: defined, listed, called (server/tools). */

import {
  type CallToolResult,
  type Checked,
  type ContentBlock,
  ErrorCode,
  formatIssues,
  type Icon,
  InvalidArgumentsError,
  isObject,
  type JsonObject,
  type Meta,
  type MirroredParam,
  mirroredParams,
  type Parsed,
  type PreparedSchema,
  ProtocolError,
  prepareSchema,
  type Result,
  type Schema,
  type Tool,
  type ToolAnnotations,
} from "@patchbay/core";
import { checkScopes } from "../auth/access.ts";
import { Context } from "../context.ts";
import { countedAs, type Exchange } from "../exchange.ts";
import type { Enabled, Listed, Listing } from "../listing.ts";
import { type Rate, RateLimit } from "../rates.ts";
import { callAsTask } from "../tasks/call.ts";
import { type TaskOptions, taskOptions } from "../tasks/tasks.ts";
import { checkMeta } from "./content.ts";
import { explain, failure, toResult } from "./tool-result.ts";

/** What a tool is, besides its name. */
export interface ToolDefinition<Input extends Schema, Output extends Schema> {
  title?: string;
  /** What it does, for a model to choose it by. */
  description?: string;
  /** Its arguments: always an object. Without it the tool takes none. */
  input?: Input;
  /** What it gives. The result then carries it as `structuredContent`, checked. */
  output?: Output;
  annotations?: ToolAnnotations;
  icons?: Icon[];
  _meta?: Meta;
  /** Who it is offered to. Default: everybody. */
  enabled?: Enabled;
  /** Scopes that a call takes: who lacks one does not see it listed, and is told so when calling it. */
  scopes?: readonly string[];
  /** How often each who asks may call it; beyond, the model is told to wait. Default: as `rates.calls` says. */
  rate?: Rate;
  /**
   * Whether a call that asked goes on only once: its state is refused when it comes again. Default false: a client
   * that lost the answer may send its last request again, and what must happen once is guarded by the handler.
   */
  once?: boolean;
  /**
   * Whether it runs as a task for clients that take tasks, and `"required"` if for no others. The handler is the
   * same: in a task it is never run again, and what it asks waits for the answer. Default false.
   */
  task?: boolean | "required" | TaskOptions;
}

/** What a handler may give back; its typed output first, where the tool has one. */
export type ToolReturn<Output> =
  | ([Output] extends [never] ? JsonObject | number | boolean | null | undefined | void : Output)
  | string
  | ContentBlock
  | ContentBlock[]
  | CallToolResult;

export type ToolHandler<Input, Output> = (
  args: Input,
  context: Context,
) => ToolReturn<Output> | Promise<ToolReturn<Output>>;

/** A tool as the catalog keeps it. */
export interface ToolEntry extends Listed {
  readonly definition: Tool;
  readonly input: PreparedSchema;
  readonly output: PreparedSchema | undefined;
  /** The parameters that HTTP headers repeat. */
  readonly mirrored: readonly MirroredParam[] | undefined;
  readonly task: TaskOptions | undefined;
  readonly rate: RateLimit | undefined;
  readonly once: boolean;
  readonly handler: (args: never, context: Context) => unknown;
}

/** Where failures of handlers are told; the client is not told their details. */
export type ReportError = (error: unknown, where: string) => void;

const NO_ARGUMENTS = { type: "object", additionalProperties: false };

/** @throws Error when a schema cannot be used: not an object at the root, or not expressible as JSON Schema */
export function toolEntry<Input extends Schema, Output extends Schema>(
  name: string,
  tool: ToolDefinition<Input, Output>,
  handler: ToolHandler<Parsed<Input>, Parsed<Output>>,
): ToolEntry {
  const {
    input: inputSchema = NO_ARGUMENTS,
    output: outputSchema,
    enabled,
    scopes,
    rate,
    once = false,
    task: runsAsTask,
    ...rest
  } = tool;
  checkMeta(`Tool "${name}"`, rest._meta);
  checkScopes(`Tool "${name}"`, scopes);
  try {
    const bare =
      "~standard" in inputSchema
        ? undefined
        : Object.entries(inputSchema).find(([, value]) => isObject(value) && "~standard" in value);
    if (bare !== undefined)
      throw new Error(`the input is an object of schemas; wrap it: z.object({ ${bare[0]}: … })`);
    const input = prepareSchema(inputSchema, "input");
    if (input.json.type !== "object")
      throw new Error('the input\'s JSON Schema needs "type": "object" at its root');
    const mirrored = mirroredParams(input.json);
    const output = outputSchema === undefined ? undefined : prepareSchema(outputSchema, "output");
    const task = taskOptions(runsAsTask);
    return {
      definition: {
        name,
        ...rest,
        inputSchema: input.json,
        ...(output && { outputSchema: output.json }),
        ...(task && { execution: { taskSupport: task.required ? "required" : "optional" } }),
      },
      input,
      output,
      enabled,
      scopes,
      mirrored: mirrored.length > 0 ? mirrored : undefined,
      task,
      once,
      rate: rate && new RateLimit("rate", rate),
      handler,
    };
  } catch (thrown) {
    throw new Error(`Tool "${name}": ${(thrown as Error).message}`, { cause: thrown });
  }
}

/** Answers `tools/call`. */
export function callTool(
  tools: Listing<ToolEntry>,
  params: JsonObject,
  exchange: Exchange,
  report: ReportError,
): Result | Promise<Result> {
  const { name, arguments: args = {} } = params;
  if (typeof name !== "string") throw new ProtocolError(ErrorCode.InvalidParams, '"name" must be a string');
  const tool = tools.get(name, exchange);
  if (tool === undefined) throw unknownTool(name, tools.nearest(name, exchange));
  if (!isObject(args)) throw new ProtocolError(ErrorCode.InvalidParams, '"arguments" must be an object');
  const wait = tool.rate?.take(countedAs(exchange)) ?? 0;
  if (wait > 0) return Promise.resolve(tooOften(tool, wait));

  const checked = tool.input.check(args);
  return checked instanceof Promise
    ? checked.then((later) => begin(tool, later, params, exchange, report))
    : begin(tool, checked, params, exchange, report);
}

function begin(
  tool: ToolEntry,
  checked: Checked,
  params: JsonObject,
  exchange: Exchange,
  report: ReportError,
): Result | Promise<Result> {
  const { name } = tool.definition;
  if (checked.issues !== undefined) {
    throw new InvalidArgumentsError(`Invalid arguments for ${name}: ${formatIssues(checked.issues)}`);
  }
  if (tool.task === undefined && exchange.tasks?.demanded !== true) {
    return run(tool, checked.value, new Context(exchange, params), report);
  }
  return callAsTask(name, tool.task, params, exchange, async (context) =>
    run(tool, checked.value, context, report),
  );
}

/** A handler that gives its result at once is answered at once: a promise costs more than all checks of a call. */
function run(
  tool: ToolEntry,
  args: unknown,
  context: Context,
  report: ReportError,
): CallToolResult | Promise<CallToolResult> {
  let given: unknown;
  try {
    given = tool.handler(args as never, context);
  } catch (thrown) {
    return failed(thrown, tool, context, report);
  }
  if (!(given instanceof Promise)) return toResult(given, tool, report);
  return given.then(
    (value) => toResult(value, tool, report),
    (thrown) => failed(thrown, tool, context, report),
  );
}

function failed(thrown: unknown, tool: ToolEntry, context: Context, report: ReportError): CallToolResult {
  if (thrown instanceof ProtocolError) throw thrown;
  const { name } = tool.definition;
  if (context.signal.aborted) return failure(`${name} was cancelled`);
  const { message, expected } = explain(thrown, name);
  if (!expected) report(thrown, name);
  return failure(message);
}

/** A model can wait, and is told how long. */
function tooOften({ definition: { name }, rate }: ToolEntry, wait: number): CallToolResult {
  const allowed = `its rate allows (${rate?.rate.perSecond} a second)`;
  return failure(`${name} is called more often than ${allowed}; try again in ${wait} ms`);
}

function unknownTool(name: string, near: string | undefined): ProtocolError {
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return new ProtocolError(ErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 128)}${hint}`);
}
