/** OpenTelemetry spans for turns and for what the model is asked, by its conventions for agents, through the API package alone. */

import { type Attributes, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { Model, ModelReply, ModelRequest } from "./models/model.ts";
import { usageOf } from "./models/usage.ts";
import type { HostTelemetry } from "./options.ts";

const AGENT = "host_agent";

/** How the conventions name the providers; what is not named there is named as here. */
const PROVIDERS: Readonly<Record<string, string>> = { gemini: "gcp.gemini" };

/**
 * Makes a span of each turn and, in it, of each time that the model is asked, with its tokens. With `telemetry()` of
 * `@patchbay/client/telemetry` in `connect`, a turn's calls of tools are in it too, and the servers' own spans. Neither
 * questions nor answers are part of any. Costs little where no OpenTelemetry SDK is set up.
 *
 * @example
 * ```ts
 * const host = createHost({ model, clients, telemetry: telemetry() });
 * ```
 */
export function telemetry(): HostTelemetry {
  const tracer = trace.getTracer("@patchbay/host");

  function span<T>(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    work: () => Promise<T>,
    outcome: (done: T) => Attributes,
  ): Promise<T> {
    return tracer.startActiveSpan(name, { kind, attributes }, async (own) => {
      try {
        const done = await work();
        own.setAttributes(outcome(done));
        return done;
      } catch (thrown) {
        own.setAttribute("error.type", failureOf(thrown)).setStatus({ code: SpanStatusCode.ERROR });
        throw thrown;
      } finally {
        own.end();
      }
    });
  }

  function reply(model: Model, request: ModelRequest): Promise<ModelReply> {
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": PROVIDERS[model.provider] ?? model.provider,
      "gen_ai.request.model": model.name,
    };
    const outcome = ({ message }: ModelReply): Attributes => {
      const usage = usageOf(message);
      if (usage === undefined) return {};
      return {
        "gen_ai.usage.input_tokens": usage.inputTokens,
        "gen_ai.usage.output_tokens": usage.outputTokens,
      };
    };
    return span(`chat ${model.name}`, SpanKind.CLIENT, attributes, () => model.reply(request), outcome);
  }

  return {
    model: (model) => ({
      provider: model.provider,
      name: model.name,
      label: model.label,
      reply: (request) => reply(model, request),
    }),
    turn: (conversation, work) => {
      const attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": AGENT,
        "gen_ai.conversation.id": conversation,
      };
      return span(`invoke_agent ${AGENT}`, SpanKind.INTERNAL, attributes, work, () => ({}));
    },
  };
}

function failureOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return "error";
  const { code } = thrown as { code?: unknown };
  return thrown.name === "HostError" && typeof code === "string" ? code : thrown.name;
}
