/**
 * OpenTelemetry's view of a call: one span from the call's arrival to the last byte of its answer, under the span that Deno makes
 * for the request, which is over with the answer's head. Deno exports it where `OTEL_DENO` is set; otherwise nothing here runs.
 * Its attributes are those of the call's line in the log: no prompt, no reply, no key, no address.
 *
 * @module
 */
import {
  type Attributes,
  isSpanContextValid,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { LogEntry } from "./log.ts";
import type { Trace } from "./trace.ts";

/** A call's span while it is open. */
export interface CallSpan {
  /** The span as the upstream is told it, so that what the upstream does stands under it. */
  readonly trace: Trace;
  /** Closes the span; to be called once. */
  end(entry: LogEntry): void;
}

/** What is known when a span begins. */
export interface SpanStart {
  /** The id that callers use. */
  readonly model: string;
  /** Unix time in milliseconds. */
  readonly arrivedMs: number;
}

/** Opens the span of a call, under the span of the request that is being served; undefined where nobody collects spans. */
export type StartSpan = (start: SpanStart) => CallSpan | undefined;

/** Makes spans with the platform's own provider; there is nothing to set up. */
export function spanStarter(): StartSpan {
  const tracer = trace.getTracer("model-gateway");
  return ({ model, arrivedMs }) => {
    const span = tracer.startSpan(`chat ${model}`, {
      kind: SpanKind.CLIENT,
      startTime: new Date(arrivedMs),
    });
    const context = span.spanContext();
    if (!isSpanContextValid(context)) return undefined;
    const { traceId, spanId, traceFlags } = context;
    const flags = traceFlags.toString(16).padStart(2, "0");
    return {
      trace: { traceId, traceparent: `00-${traceId}-${spanId}-${flags}` },
      end(entry) {
        span.setAttributes(attributesOf(entry));
        for (const { upstream, error } of entry.tried ?? []) {
          span.addEvent("attempt failed", {
            "gateway.upstream": upstream,
            "error.type": error,
          });
        }
        if (entry.error_of !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
}

/** Names of OpenTelemetry's conventions for generative models where it has one (https://opentelemetry.io/docs/specs/semconv/gen-ai/). */
function attributesOf(entry: LogEntry): Attributes {
  const { usage } = entry;
  const attributes: Record<string, string | number | boolean | undefined> = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": entry.model,
    "gen_ai.usage.input_tokens": usage?.input,
    "gen_ai.usage.cache_read.input_tokens": usage?.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWrite,
    "gen_ai.usage.output_tokens": usage?.output,
    "http.route": entry.endpoint,
    "http.response.status_code": entry.status,
    "error.type": entry.error_of === undefined ? undefined : kindOf(entry),
    "gateway.request_id": entry.request_id,
    "gateway.key_id": entry.key_id,
    "gateway.upstream": entry.upstream,
    "gateway.upstream_status": entry.upstream_status,
    "gateway.attempts": entry.attempts,
    "gateway.stream": entry.stream,
    "gateway.ended": entry.ended,
    "gateway.time_to_first_byte_ms": entry.ttfb_ms,
    "gateway.cost_micro_usd": entry.cost_micro_usd,
  };
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== undefined),
  );
}

/** A fault of ours has the top of its stack in the log; here a word is enough. */
function kindOf({ error }: LogEntry): string {
  return error !== undefined && /^[a-z_]+$/.test(error) ? error : "internal";
}
