/** OpenTelemetry spans for each request that is sent, by its conventions for MCP, through the API package alone. */

import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { failureOfSpan, spanOf } from "@patchbay/core";
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
    const { name, attributes } = spanOf(method, params, revision);
    if (method === "tools/call") attributes["gen_ai.operation.name"] = "execute_tool";
    return tracer.startActiveSpan(name, { kind: SpanKind.CLIENT, attributes }, async (span) => {
      try {
        propagation.inject(context.active(), meta);
        const result = await next();
        if (result.isError === true)
          span.setAttribute("error.type", "tool_error").setStatus({ code: SpanStatusCode.ERROR });
        return result;
      } catch (thrown) {
        span.setAttributes(failureOfSpan(thrown)).setStatus({ code: SpanStatusCode.ERROR });
        throw thrown;
      } finally {
        span.end();
      }
    });
  };
}
