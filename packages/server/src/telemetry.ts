/** OpenTelemetry spans for each request, by its conventions for MCP, through the API package alone. */

import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { failureOfSpan, isObject, type JsonObject, spanOf } from "@patchbay/core";
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
    const { name, attributes } = spanOf(method, params, exchange.revision);
    return tracer.startActiveSpan(name, { kind: SpanKind.SERVER, attributes }, parent, async (span) => {
      try {
        const reply = await next();
        if ("isError" in reply && reply.isError === true)
          span.setAttribute("error.type", "tool_error").setStatus({ code: SpanStatusCode.ERROR });
        return reply;
      } catch (thrown) {
        span.setAttributes(failureOfSpan(thrown)).setStatus({ code: SpanStatusCode.ERROR });
        throw thrown;
      } finally {
        span.end();
      }
    });
  };
}
