/**
 * OpenTelemetry metrics of calls, by its conventions for generative AI, sent to a collector by
 * OTLP over HTTP in JSON. An export is one request beside the calls, with a time limit; nothing
 * waits for it. Loaded only if metrics are sent: OpenTelemetry's SDK would add 20 MB to every
 * first start.
 */
import { ApiError } from "../../translate/model/error.ts";
import { gatewayTimers } from "../timers.ts";
import type { Candidate } from "../upstream/catalogue/model_registry.ts";
import type { Vendor } from "../upstream/catalogue/vendors.ts";
import {
  type ClientOptions,
  upstreamClient,
} from "../upstream/http/http_client.ts";
import { VERSION } from "../version.ts";
import { errorType, inputTokens, placeOf } from "./call_attributes.ts";
import type { LogEntry } from "./log.ts";
import {
  attributeList,
  type Attributes,
  type HistogramForm,
  OtlpHistogram,
} from "./otlp_histogram.ts";
import type { OtlpEvent, OtlpSettings } from "./otlp_settings.ts";

export interface MeasuredCall {
  /** The operation, by the conventions. */
  readonly name: string;
  readonly entry: LogEntry;
  /** The candidate that replied, or whose error the client received. */
  readonly candidate: Pick<Candidate, "name" | "address" | "upstreamModel">;
  /** Whether a reply began. */
  readonly began: boolean;
  readonly vendors: readonly Pick<Vendor, "name" | "kind">[];
}

export interface OtlpMetrics {
  /** Adds a call; never fails or waits. */
  record(call: MeasuredCall): void;
  /** Sends what is left and ends, within {@linkcode LAST_EXPORT_MS}. */
  close(): Promise<void>;
}

/** The most time that the last export takes from the end of the process. */
const LAST_EXPORT_MS = 2_000;

/** The boundaries that the conventions recommend. */
const SECONDS = Array.from({ length: 14 }, (_, at) => 0.01 * 2 ** at);
const TOKENS = Array.from({ length: 14 }, (_, at) => 4 ** at);

const DURATION: HistogramForm = {
  name: "gen_ai.client.operation.duration",
  unit: "s",
  description: "GenAI operation duration.",
  bounds: SECONDS,
};
const FIRST_CHUNK: HistogramForm = {
  name: "gen_ai.client.operation.time_to_first_chunk",
  unit: "s",
  description: "Time to receive the first chunk of a stream.",
  bounds: SECONDS,
};
const USAGE: HistogramForm = {
  name: "gen_ai.client.token.usage",
  unit: "{token}",
  description: "Number of input and output tokens used.",
  bounds: TOKENS,
};

export function otlpMetrics(
  settings: OtlpSettings,
  onEvent: (event: OtlpEvent) => void,
  options: ClientOptions = {},
): OtlpMetrics {
  const { intervalMs, isDelta } = settings;
  const duration = new OtlpHistogram(DURATION);
  const firstChunk = new OtlpHistogram(FIRST_CHUNK);
  const usage = new OtlpHistogram(USAGE);
  const all = [duration, firstChunk, usage];
  const sender = otlpSender(settings, onEvent, options);
  const resource = {
    attributes: attributeList({
      "service.version": VERSION,
      // Processes that are otherwise equal must not be added to one series.
      "service.instance.id": crypto.randomUUID(),
      ...settings.resource,
    }),
  };
  const exportOnce = async (): Promise<void> => {
    const metrics = all.flatMap((one) => one.json(Date.now(), isDelta) ?? []);
    if (metrics.length === 0) return;
    const putBack = isDelta ? all.map((one) => one.take()) : [];
    const scope = { name: "model-gateway", version: VERSION };
    const isSent = await sender.send(JSON.stringify({
      resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }],
    }));
    if (!isSent) { for (const one of putBack) one(); }
  };
  let underWay: Promise<void> | undefined;
  const timer = setInterval(() => {
    underWay ??= exportOnce().finally(() => underWay = undefined);
  }, intervalMs);
  Deno.unrefTimer(timer);
  return {
    record({ name, entry, candidate, began, vendors }) {
      const nowMs = Date.now();
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
        nowMs,
      );
      if (entry.stream === true && began && entry.ttfb_ms !== undefined) {
        firstChunk.record(entry.ttfb_ms / 1000, attributes, nowMs);
      }
      if (error !== undefined) return;
      for (
        const [type, count] of [
          ["input", inputTokens(entry)],
          ["output", entry.usage?.output],
        ] as const
      ) {
        if (count === undefined) continue;
        usage.record(
          count,
          { ...attributes, "gen_ai.token.type": type },
          nowMs,
        );
      }
    },
    async close() {
      clearInterval(timer);
      const limit = setTimeout(sender.end, LAST_EXPORT_MS);
      await underWay;
      await exportOnce();
      clearTimeout(limit);
      await sender.end();
    },
  };
}

/** Sends exports, each with a time limit, and reports when they begin to fail and to arrive. */
function otlpSender(
  { url, headers, isCompressed, timeoutMs }: OtlpSettings,
  onEvent: (event: OtlpEvent) => void,
  options: ClientOptions,
): { send(text: string): Promise<boolean>; end(): Promise<void> } {
  const client = upstreamClient(
    {
      connectTimeoutMs: timeoutMs,
      firstByteTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
    },
    gatewayTimers(),
    options,
  );
  const ended = new AbortController();
  let failedFor: string | undefined;
  /** The reason why an export did not arrive; it contains neither address nor header. */
  const reasonOf = async (text: string): Promise<string | undefined> => {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const plain = new TextEncoder().encode(text);
      const { status, body } = await client.call({
        url,
        headers: {
          "content-type": "application/json",
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
    async send(text) {
      const reason = await reasonOf(text);
      if (reason !== failedFor) {
        onEvent(
          reason === undefined
            ? { type: "metrics_export_works" }
            : { type: "metrics_export_fails", reason },
        );
      }
      failedFor = reason;
      return reason === undefined;
    },
    async end() {
      ended.abort();
      await client.close();
    },
  };
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(
    new CompressionStream("gzip"),
  );
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
