/** What was posted to a provider: its tools, calls and results, in one shape for all. */

import type { Posted } from "./provider-wire.ts";

/** The tools of a request. */
export function toolsIn(body: Posted): { name: string; description: string; schema: Posted }[] {
  const tools = body.tools[0]?.functionDeclarations ?? body.tools;
  return tools.map((tool: Posted) => {
    const { name, description, parameters, input_schema: schema = parameters } = tool.function ?? tool;
    return { name, description, schema };
  });
}

/** The calls that a request's history holds. */
export function callsIn(body: Posted): { id?: string; name: string; args: object }[] {
  if (body.input !== undefined) {
    return body.input
      .filter(({ type }: Posted) => type === "function_call")
      .map((item: Posted) => ({ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }));
  }
  if (body.contents !== undefined) {
    return body.contents.flatMap(({ parts }: Posted) =>
      parts.flatMap(({ functionCall: call }: Posted) =>
        call === undefined ? [] : [{ name: call.name, args: call.args }],
      ),
    );
  }
  return body.messages.flatMap(({ tool_calls = [], content }: Posted) => [
    ...tool_calls.map(({ id, function: { name, arguments: args } }: Posted) =>
      typeof args === "string" ? { id, name, args: JSON.parse(args) } : { name, args },
    ),
    ...(Array.isArray(content) ? content : [])
      .filter((block: Posted) => block.type === "tool_use")
      .map((block: Posted) => ({ id: block.id, name: block.name, args: block.input })),
  ]);
}

/** The tool results of a request. */
export function resultsIn(body: Posted): { id?: string; text: string; isError?: boolean }[] {
  if (body.input !== undefined) {
    return body.input
      .filter(({ type }: Posted) => type === "function_call_output")
      .map((item: Posted) => ({ id: item.call_id, text: item.output }));
  }
  if (body.contents !== undefined) {
    return body.contents.flatMap(({ parts }: Posted) =>
      parts.flatMap(({ functionResponse }: Posted) => {
        if (functionResponse === undefined) return [];
        const { result, error } = functionResponse.response;
        return [error === undefined ? { text: result } : { text: error.details ?? error, isError: true }];
      }),
    );
  }
  return body.messages.flatMap((message: Posted) => {
    if (message.role === "tool") {
      const id = message.tool_call_id;
      return [{ ...(id === undefined ? {} : { id }), text: message.content }];
    }
    if (!Array.isArray(message.content)) return [];
    return message.content
      .filter((block: Posted) => block.type === "tool_result")
      .map((block: Posted) => ({
        id: block.tool_use_id,
        text: block.content.map((part: Posted) => part.text ?? "").join(""),
        ...(block.is_error === undefined ? {} : { isError: block.is_error }),
      }));
  });
}
