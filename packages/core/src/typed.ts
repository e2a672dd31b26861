/** The types of a server's tools, for a client that is given the server's type. Nothing of it is there at run time. */

import type { CallToolResult } from "./model/tools.ts";
import type { Accepted, Parsed, Schema } from "./schema/standard-schema.ts";

/** One tool: what it takes, and what it gives as structured content. */
export interface ToolType {
  input: unknown;
  output: unknown;
}

/** A tool's type, from its schemas. */
export interface ToolTypeOf<Input, Output> {
  input: [Input] extends [never] ? Record<string, never> : Input extends Schema ? Accepted<Input> : never;
  output: [Output] extends [never] ? unknown : Output extends Schema ? Parsed<Output> : never;
}

/** Something that says, by its type alone, which tools it has. */
export interface HasTools<Tools> {
  readonly "~tools"?: Tools;
}

/** The tools of a server's type; `unknown` where it does not say. */
export type ToolsOf<Server> = Server extends HasTools<infer Tools> ? Tools : unknown;

/** The names that may be called: any, where the tools are not known. */
export type ToolName<Tools> = unknown extends Tools ? string : Extract<keyof Tools, string>;

/** The arguments of a tool. */
export type ToolInput<Tools, Name> = unknown extends Tools
  ? object
  : Name extends keyof Tools
    ? MemberOf<Tools[Name], "input">
    : never;

/** The result of a tool: its structured content is there unless the tool failed. */
export type ToolOutput<Tools, Name> = unknown extends Tools
  ? CallToolResult
  : Name extends keyof Tools
    ? Omit<CallToolResult, "structuredContent"> & { structuredContent?: MemberOf<Tools[Name], "output"> }
    : never;

type MemberOf<Type, Member extends keyof ToolType> = Type extends ToolType ? Type[Member] : never;
