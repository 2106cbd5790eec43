/**
 * OpenTelemetry metrics of calls, by its conventions for generative AI, sent to a collector by
 * OTLP over HTTP. OpenTelemetry's SDK adds them up; an export is one request of the gateway's own,
 * with a time limit, beside the calls. Loaded only if metrics are sent.
 *
 * @module
 */
import type { Attributes, Histogram } from "@opentelemetry/api";
import {
  JsonMetricsSerializer,
  ProtobufMetricsSerializer,
} from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import { ApiError } from "../../translate/model/error.ts";
import { gatewayTimers } from "../timers.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Vendor } from "../upstream/catalogue/vendors.ts";
import { upstreamClient } from "../upstream/http/http_client.ts";
import { VERSION } from "../version.ts";
import { errorType, inputTokens, placeOf } from "./call_attributes.ts";
import type { LogEntry } from "./log.ts";
import type { OtlpEvent, OtlpSettings } from "./otlp_settings.ts";

/** A call that has ended. */
export interface MeasuredCall {
  /** The operation, by the conventions. */
  readonly name: string;
  readonly entry: LogEntry;
  /** The candidate that replied, or whose error the client received. */
  readonly candidate: Pick<Candidate, "name" | "address" | "upstreamModel">;
  /** Whether a reply began. */
  readonly began: boolean;
  /** The configured vendors. */
  readonly vendors: readonly Pick<Vendor, "name" | "kind">[];
}

/** The metrics of calls. */
export interface OtlpMetrics {
  /** Adds a call; never fails or waits. */
  record(call: MeasuredCall): void;
  /** Sends what is left and ends, within {@linkcode LAST_EXPORT_MS}. */
  close(): Promise<void>;
}

/** The most time that the last export takes from the end of the process. */
export const LAST_EXPORT_MS = 2_000;

/** The most combinations of attributes of each metric; further ones are counted as one. */
const MAX_SERIES = 2_000;

/** The boundaries that the conventions recommend. */
const SECONDS = Array.from({ length: 14 }, (_, at) => 0.01 * 2 ** at);
const TOKENS = Array.from({ length: 14 }, (_, at) => 4 ** at);

/** Starts the exports. */
export function otlpMetrics(
  settings: OtlpSettings,
  onEvent: (event: OtlpEvent) => void,
): OtlpMetrics {
  const exporter = otlpExporter(settings, onEvent);
  const provider = new MeterProvider({
    resource: resourceFromAttributes({
      "service.version": VERSION,
      // Processes that are otherwise equal must not be added to one series.
      "service.instance.id": crypto.randomUUID(),
      ...settings.resource,
    }),
    readers: [
      new PeriodicExportingMetricReader({
        exporter,
        exportIntervalMillis: settings.intervalMs,
        exportTimeoutMillis: settings.timeoutMs,
        cardinalityLimits: { default: MAX_SERIES },
      }),
    ],
  });
  const meter = provider.getMeter("model-gateway", VERSION);
  const histogram = (
    name: string,
    unit: string,
    description: string,
    explicitBucketBoundaries: number[],
  ): Histogram =>
    meter.createHistogram(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries },
    });
  const duration = histogram(
    "gen_ai.client.operation.duration",
    "s",
    "GenAI operation duration.",
    SECONDS,
  );
  const firstChunk = histogram(
    "gen_ai.client.operation.time_to_first_chunk",
    "s",
    "Time to receive the first chunk of a stream.",
    SECONDS,
  );
  const tokens = histogram(
    "gen_ai.client.token.usage",
    "{token}",
    "Number of input and output tokens used.",
    TOKENS,
  );
  return {
    record({ name, entry, candidate, began, vendors }) {
      const attributes: Attributes = {
        "gen_ai.operation.name": name,
        ...(entry.model === undefined
          ? {}
          : { "gen_ai.request.model": entry.model }),
        ...(began ? { "gen_ai.response.model": candidate.upstreamModel } : {}),
        ...placeOf(candidate, vendors),
      };
      const error = errorType(entry);
      duration.record(
        entry.duration_ms / 1000,
        error === undefined
          ? attributes
          : { ...attributes, "error.type": error },
      );
      if (entry.stream === true && began && entry.ttfb_ms !== undefined) {
        firstChunk.record(entry.ttfb_ms / 1000, attributes);
      }
      if (error !== undefined) return;
      for (
        const [type, count] of [
          ["input", inputTokens(entry)],
          ["output", entry.usage?.output],
        ] as const
      ) {
        if (count === undefined) continue;
        tokens.record(count, { ...attributes, "gen_ai.token.type": type });
      }
    },
    async close() {
      // A failed export is an event; the end of the process must not depend on it.
      await provider.shutdown({ timeoutMillis: LAST_EXPORT_MS }).catch(
        () => {},
      );
      await exporter.end();
    },
  };
}

/** One export after another, each with a time limit. */
function otlpExporter(
  { url, protocol, headers, isCompressed, isDelta, timeoutMs }: OtlpSettings,
  onEvent: (event: OtlpEvent) => void,
): PushMetricExporter & { end(): Promise<void> } {
  const [serializer, contentType] = protocol === "http/json"
    ? [JsonMetricsSerializer, "application/json"] as const
    : [ProtobufMetricsSerializer, "application/x-protobuf"] as const;
  const client = upstreamClient({
    connectTimeoutMs: timeoutMs,
    firstByteTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
  }, gatewayTimers());
  const ended = new AbortController();
  let failedFor: string | undefined;
  const outcome = (reason: string | undefined): void => {
    if (reason === failedFor) return;
    if (reason !== undefined) {
      onEvent({ type: "metrics_export_fails", reason });
    } else onEvent({ type: "metrics_export_works" });
    failedFor = reason;
  };
  /** The reason why the export did not arrive; it contains neither address nor header. */
  const send = async (
    metrics: ResourceMetrics,
  ): Promise<string | undefined> => {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const plain = serializer.serializeRequest(metrics) ?? new Uint8Array(0);
      const { status, body } = await client.call({
        url,
        headers: {
          "content-type": contentType,
          "user-agent": `model-gateway/${VERSION}`,
          ...(isCompressed ? { "content-encoding": "gzip" } : {}),
          ...headers,
        },
        body: isCompressed ? await gzip(plain) : plain,
        signal: AbortSignal.any([limit, ended.signal]),
      });
      body.cancel();
      return status < 300 ? undefined : `status ${status}`;
    } catch (error) {
      const isLate = limit.aborted || ended.signal.aborted ||
        error instanceof ApiError && error.kind === "timeout";
      return isLate ? "no reply in time" : "the address could not be reached";
    }
  };
  return {
    async export(metrics, done) {
      const reason = await send(metrics);
      outcome(reason);
      // The SDK would write a failure to standard error; the event is in the log.
      done({ code: 0 });
    },
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
    async end() {
      ended.abort();
      await client.close();
    },
    selectAggregationTemporality: () =>
      isDelta
        ? AggregationTemporality.DELTA
        : AggregationTemporality.CUMULATIVE,
  };
}

async function gzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(
    new CompressionStream("gzip"),
  );
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
