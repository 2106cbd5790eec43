/**
 * OpenTelemetry spans of calls: one span from the call's arrival to the last byte of its reply, and
 * one below it for each attempt at an upstream. The parent is the span that Deno creates for the
 * request, which ends with the response's head. Deno exports spans if `OTEL_DENO` is set; otherwise
 * nothing here runs. The attributes have no prompt, no reply and no key, and of an upstream's
 * address only host and port.
 */
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { compact } from "../../translate/bytes/compact.ts";
import type { ReplyProgress } from "../../translate/model/reply_progress.ts";
import type { StopReason } from "../../translate/model/reply.ts";
import type { Settings } from "../../translate/model/settings.ts";
import type { Trace } from "../http/trace.ts";
import type { CallTimes } from "../upstream/call_times.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Vendor } from "../upstream/catalogue/vendors.ts";
import type { LogEntry } from "./log.ts";
import { errorType, inputTokens, placeOf } from "./call_attributes.ts";

export interface CallSpan {
  /**
   * The trace context to send upstream, so that the upstream's spans become children of this one.
   */
  readonly trace: Trace;
  /** Ends the span. Call it once. */
  end(end: SpanEnd): void;
}

/** Values known at the start of a span. */
interface SpanStart {
  /** The operation, by the conventions. */
  readonly name: string;
  /** The id that clients use. */
  readonly model: string;
  /** Whether the client asked for a stream. */
  readonly isStream: boolean;
  /** What the client asked for beside its prompt; absent: nothing. */
  readonly settings?: Partial<Settings>;
  readonly vendors: readonly Vendor[];
  /** Unix time in milliseconds. */
  readonly arrivedMs: number;
}

/** Values known at the end of a span. */
interface SpanEnd {
  readonly entry: LogEntry;
  /** The candidate that replied, or whose error the client received. */
  readonly candidate: Candidate;
  /** Every attempt, in order. */
  readonly calls: readonly CallTimes[];
  /** Progress of the reply; absent if none began. */
  readonly progress?: ReplyProgress;
  /** Unix time in milliseconds. */
  readonly nowMs: number;
}

/**
 * Starts the span of a call as a child of the request's span; undefined if spans are not collected.
 */
export type StartSpan = (start: SpanStart) => CallSpan | undefined;

/** Creates spans with the platform's own tracer provider, which needs no setup. */
export function spanStarter(): StartSpan {
  const tracer = trace.getTracer("model-gateway");
  return (start) => {
    const { name, model, isStream, settings = {}, vendors, arrivedMs } = start;
    const span = tracer.startSpan(`${name} ${model}`, {
      kind: SpanKind.CLIENT,
      startTime: new Date(arrivedMs),
      // The candidate's follow at the end: an attribute that is set again would be exported twice.
      attributes: compact({
        "gen_ai.operation.name": name,
        "gen_ai.request.model": model,
        "gen_ai.request.stream": isStream || undefined,
        ...requestAttributes(settings),
      }),
    });
    const context = span.spanContext();
    if (!isSpanContextValid(context)) return undefined;
    const { traceId, spanId, traceFlags } = context;
    const flags = traceFlags.toString(16).padStart(2, "0");
    return {
      trace: { traceId, traceparent: `00-${traceId}-${spanId}-${flags}` },
      end(end) {
        const { entry, candidate, calls, nowMs } = end;
        const parent = trace.setSpan(ROOT_CONTEXT, span);
        for (const call of calls) {
          attemptSpan(tracer, parent, call, vendors, nowMs);
        }
        span.setAttributes(compact({
          ...placeOf(candidate, vendors),
          ...replyAttributes(end),
        }));
        fail(span, errorType(entry));
        span.end(new Date(nowMs));
      },
    };
  };
}

function fail(span: Span, kind: string | undefined): void {
  if (kind === undefined) return;
  span.setAttribute("error.type", kind);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** One attempt, whose times are known afterwards. */
function attemptSpan(
  tracer: Tracer,
  parent: Context,
  { candidate, startedMs, firstByteMs, endedMs, error }: CallTimes,
  vendors: readonly Vendor[],
  nowMs: number,
): void {
  const status = error?.details.upstreamStatus ??
    (firstByteMs === undefined ? undefined : 200);
  const span = tracer.startSpan(`attempt ${candidate.name}`, {
    kind: SpanKind.INTERNAL,
    startTime: new Date(startedMs),
    attributes: compact({
      ...placeOf(candidate, vendors),
      "http.response.status_code": status,
      "gateway.upstream": candidate.name,
    }),
  }, parent);
  fail(span, error?.kind);
  span.end(new Date(endedMs ?? nowMs));
}

/** The client's settings that are numbers; texts may be a part of its prompt. */
function requestAttributes(
  settings: Partial<Settings>,
): Record<string, number | undefined> {
  const { replyCount } = settings;
  return {
    "gen_ai.request.max_tokens": settings.maxTokens,
    "gen_ai.request.temperature": settings.temperature,
    "gen_ai.request.top_p": settings.topP,
    "gen_ai.request.top_k": settings.topK,
    "gen_ai.request.seed": settings.seed,
    "gen_ai.request.frequency_penalty": settings.frequencyPenalty,
    "gen_ai.request.presence_penalty": settings.presencePenalty,
    "gen_ai.request.choice.count": replyCount === 1 ? undefined : replyCount,
  };
}

/** The conventions' words for the reasons that a reply ends for. */
const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: "stop",
  max_tokens: "length",
  stop_sequence: "stop",
  tool_use: "tool_call",
  refusal: "content_filter",
  pause: "pause",
  context_window: "length",
  other: "other",
};

/**
 * Uses the names of OpenTelemetry's conventions for generative models where they exist
 * (https://github.com/open-telemetry/semantic-conventions-genai).
 */
function replyAttributes(
  { entry, candidate, progress }: SpanEnd,
): Readonly<Record<string, Attributes[string] | undefined>> {
  const { usage = {} } = entry;
  const { cacheRead, cacheWrite, output, reasoning } = usage;
  return {
    "gen_ai.response.model": progress === undefined
      ? undefined
      : candidate.upstreamModel,
    "gen_ai.response.finish_reasons": progress === undefined ? undefined : [
      entry.ended !== "complete" || progress.stop === undefined
        ? "error"
        : FINISH_REASONS[progress.stop],
    ],
    "gen_ai.response.time_to_first_chunk":
      entry.stream !== true || entry.ttfb_ms === undefined
        ? undefined
        : entry.ttfb_ms / 1000,
    "gen_ai.usage.input_tokens": inputTokens(entry),
    "gen_ai.usage.cache_read.input_tokens": cacheRead,
    "gen_ai.usage.cache_write.input_tokens": cacheWrite,
    "gen_ai.usage.output_tokens": output,
    "gen_ai.usage.reasoning.output_tokens": reasoning,
    "http.route": entry.endpoint,
    "http.response.status_code": entry.status,
    "gateway.request_id": entry.request_id,
    "gateway.key_id": entry.key_id,
    "gateway.upstream": entry.upstream,
    "gateway.upstream_status": entry.upstream_status,
    "gateway.attempts": entry.attempts,
    "gateway.ended": entry.ended,
    "gateway.cost_micro_usd": entry.cost_micro_usd,
  };
}
