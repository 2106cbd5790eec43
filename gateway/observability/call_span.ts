/**
 * OpenTelemetry spans of calls: one span from the call's arrival to the last byte of its reply. Its
 * parent is the span that Deno creates for the request, which ends with the response's head. Deno
 * exports spans if `OTEL_DENO` is set; otherwise nothing here runs. The attributes are those of the
 * call's log entry: no prompt, no reply, no key, no address.
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
import type { Trace } from "../http/trace.ts";

/** The span of a running call. */
export interface CallSpan {
  /**
   * The trace context to send upstream, so that the upstream's spans become children of this one.
   */
  readonly trace: Trace;
  /** Ends the span. Call it once. */
  end(entry: LogEntry): void;
}

/** Values known at the start of a span. */
export interface SpanStart {
  /** The operation, by the conventions. */
  readonly name: string;
  /** The id that clients use. */
  readonly model: string;
  /** Unix time in milliseconds. */
  readonly arrivedMs: number;
}

/**
 * Starts the span of a call as a child of the request's span; undefined if spans are not collected.
 */
export type StartSpan = (start: SpanStart) => CallSpan | undefined;

/** Creates spans with the platform's own tracer provider, which needs no setup. */
export function spanStarter(): StartSpan {
  const tracer = trace.getTracer("model-gateway");
  return ({ name, model, arrivedMs }) => {
    const span = tracer.startSpan(`${name} ${model}`, {
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
        span.setAttributes({
          "gen_ai.operation.name": name,
          ...attributesOf(entry),
        });
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

/**
 * Uses the names of OpenTelemetry's conventions for generative models where they exist
 * (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
 */
function attributesOf(entry: LogEntry): Attributes {
  const { usage } = entry;
  const attributes: Record<string, string | number | boolean | undefined> = {
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

/** For an internal error, the log has the top of the stack; here its kind is enough. */
function kindOf({ error }: LogEntry): string {
  return error !== undefined && /^[a-z_]+$/.test(error) ? error : "internal";
}
