/** OpenTelemetry spans for each request, by its conventions for MCP, through the API package alone. */

import { context, propagation, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { isObject, type JsonObject, ProtocolError } from "@patchbay/core";
import type { Middleware } from "./middleware.ts";

/**
 * Middleware that makes a span of each request, as a child of the one whose context its `_meta` carries
 * (`traceparent`, `tracestate`, `baggage`). Costs nothing where no OpenTelemetry SDK is set up.
 *
 * @example
 * ```ts
 * server.use(telemetry());
 * ```
 */
export function telemetry(): Middleware {
  const tracer = trace.getTracer("@patchbay/server");
  return ({ method, params, exchange }, next) => {
    const parent = propagation.extract(context.active(), isObject(params._meta) ? params._meta : {}, {
      keys: (carrier: JsonObject) => Object.keys(carrier),
      get: (carrier: JsonObject, key) => (typeof carrier[key] === "string" ? carrier[key] : undefined),
    });
    const target = targetOf(method, params);
    const attributes = {
      "mcp.method.name": method,
      "mcp.protocol.version": exchange.revision,
      ...(target !== undefined && TARGET_ATTRIBUTES[method] && { [TARGET_ATTRIBUTES[method]]: target }),
    };
    const name = target === undefined || method === "resources/read" ? method : `${method} ${target}`;
    return tracer.startActiveSpan(name, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
      try {
        const reply = await next();
        if ("isError" in reply && reply.isError === true) failed(span, "tool_error");
        return reply;
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
