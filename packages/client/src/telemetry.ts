/** OpenTelemetry spans for each request that is sent, by its conventions for MCP, through the API package alone. */

import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { type JsonObject, ProtocolError } from "@patchbay/core";
import type { Middleware } from "./middleware.ts";

/**
 * Middleware that makes a span of each request, and sends its context along in `_meta` (`traceparent`, `tracestate`,
 * `baggage`), so that the server's own spans belong to the same trace. Costs little where no OpenTelemetry SDK is
 * set up.
 *
 * @example
 * ```ts
 * const client = await connect(url, { middleware: [telemetry()] });
 * ```
 */
export function telemetry(): Middleware {
  const tracer = trace.getTracer("@patchbay/client");
  return ({ method, params, meta, revision }, next) => {
    const target = targetOf(method, params);
    const attributes = {
      "mcp.method.name": method,
      "mcp.protocol.version": revision,
      ...(method === "tools/call" && { "gen_ai.operation.name": "execute_tool" }),
      ...(target !== undefined && TARGET_ATTRIBUTES[method] && { [TARGET_ATTRIBUTES[method]]: target }),
    };
    const name = target === undefined || method === "resources/read" ? method : `${method} ${target}`;
    return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        propagation.inject(context.active(), meta);
        const result = await next();
        if (result.isError === true) failed(span, "tool_error");
        return result;
      } catch (thrown) {
        if (thrown instanceof ProtocolError)
          span.setAttribute("rpc.response.status_code", String(thrown.code));
        failed(span, thrown instanceof Error ? thrown.name : "error");
        throw thrown;
      } finally {
        span.end();
      }
    });
  };
}

const TARGET_ATTRIBUTES: Record<string, string> = {
  "tools/call": "gen_ai.tool.name",
  "prompts/get": "gen_ai.prompt.name",
  "resources/read": "mcp.resource.uri",
};

function targetOf(method: string, { name, uri }: JsonObject): string | undefined {
  const target = method === "resources/read" ? uri : name;
  return TARGET_ATTRIBUTES[method] !== undefined && typeof target === "string"
    ? target.slice(0, 256)
    : undefined;
}

function failed(span: Span, type: string): void {
  span.setAttribute("error.type", type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
