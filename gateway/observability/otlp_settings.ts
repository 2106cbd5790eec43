/**
 * The settings of OpenTelemetry for metrics, by the names that every program with an OpenTelemetry
 * SDK reads (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). Those of spans are
 * read by Deno itself.
 */

/** Where metrics are sent, how and how often. */
export interface OtlpSettings {
  /** With its path. */
  readonly url: string;
  /** May have a secret; never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isCompressed: boolean;
  /** Whether each export has only what has happened since the one before. */
  readonly isDelta: boolean;
  readonly intervalMs: number;
  /** Longest duration of an export; not longer than the interval. */
  readonly timeoutMs: number;
  /** What sends the metrics: its name, its version, what the operator adds. */
  readonly resource: Readonly<Record<string, string>>;
}

/** Whether exports arrive, for the log. */
export type OtlpEvent =
  | { readonly type: "metrics_export_fails"; readonly reason: string }
  | { readonly type: "metrics_export_works" };

/** A setting whose form for metrics comes before the one for every signal. */
function specific(
  env: Readonly<Record<string, string>>,
  name: string,
): { readonly name: string; readonly value: string | undefined } {
  const own = `OTEL_EXPORTER_OTLP_METRICS_${name}`;
  const common = `OTEL_EXPORTER_OTLP_${name}`;
  return env[own] === undefined
    ? { name: common, value: env[common] }
    : { name: own, value: env[own] };
}

/** The words of `OTEL_METRICS_EXPORTER` for other ways than OTLP. */
const OTHER_EXPORTERS = ["none", "prometheus", "console", "logging"];
const DEFAULT_ENDPOINT = "http://localhost:4318";
const DEFAULT_INTERVAL_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * The settings; undefined where no metrics are sent: without an endpoint, or with
 * `OTEL_METRICS_EXPORTER=none`. Values of settings are no part of a problem: they may be secret.
 */
export function otlpSettings(
  env: Readonly<Record<string, string>>,
  onProblem: (name: string, message: string) => void,
): OtlpSettings | undefined {
  if (/^true$/i.test(env["OTEL_SDK_DISABLED"] ?? "")) return undefined;
  const exporters = env["OTEL_METRICS_EXPORTER"]?.split(",").map((one) =>
    one.trim()
  );
  if (
    exporters?.some((one) => one !== "otlp" && !OTHER_EXPORTERS.includes(one))
  ) {
    onProblem("OTEL_METRICS_EXPORTER", "must be otlp or none");
  }
  const endpoint = specific(env, "ENDPOINT");
  const isOn = exporters?.includes("otlp") ?? endpoint.value !== undefined;
  if (!isOn) return undefined;
  const base = endpoint.value ?? DEFAULT_ENDPOINT;
  const isAddress = /^https?:\/\/[^\s#]+$/.test(base) && URL.canParse(base);
  if (!isAddress) {
    onProblem(
      endpoint.name,
      "must be an http:// or https:// address, such as http://collector:4318",
    );
  }
  const among = <T extends string>(
    { name, value }: {
      readonly name: string;
      readonly value?: string | undefined;
    },
    [first, ...others]: readonly [T, ...T[]],
  ): T => {
    const found = [first, ...others].find((one) => one === (value ?? first));
    if (found === undefined) {
      onProblem(name, `must be ${[first, ...others].join(" or ")}`);
    }
    return found ?? first;
  };
  const milliseconds = (
    { name, value }: {
      readonly name: string;
      readonly value?: string | undefined;
    },
    fallback: number,
  ): number => {
    if (value === undefined) return fallback;
    if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
    onProblem(name, "must be a number of milliseconds from 1 to 999999999");
    return fallback;
  };
  const setting = (name: string) => ({ name, value: env[name] });
  const temporality = env["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"];
  const pairs = (name: string): Record<string, string> =>
    pairsOf(env[name] ?? "", () =>
      onProblem(
        name,
        "must be a list such as name=value,other=value, with %2C for a comma in a value",
      ));
  // A receiver of OTLP over HTTP takes both, by the content type; JSON is sent.
  among(specific(env, "PROTOCOL"), ["http/json", "http/protobuf"]);
  const intervalMs = milliseconds(
    setting("OTEL_METRIC_EXPORT_INTERVAL"),
    DEFAULT_INTERVAL_MS,
  );
  const headers = {
    ...pairs("OTEL_EXPORTER_OTLP_HEADERS"),
    ...pairs("OTEL_EXPORTER_OTLP_METRICS_HEADERS"),
  };
  if (!areHeaders(headers)) {
    onProblem(specific(env, "HEADERS").name, "must be headers of HTTP");
  }
  return {
    url: endpoint.name.includes("METRICS") || !isAddress
      ? base
      : `${base.replace(/\/+$/, "")}/v1/metrics`,
    headers,
    isCompressed: among(specific(env, "COMPRESSION"), ["none", "gzip"]) ===
      "gzip",
    isDelta: among(
      {
        name: "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
        value: temporality?.toLowerCase(),
      },
      ["cumulative", "delta", "lowmemory"],
    ) !== "cumulative",
    intervalMs,
    timeoutMs: Math.min(
      intervalMs,
      milliseconds(setting("OTEL_METRIC_EXPORT_TIMEOUT"), DEFAULT_TIMEOUT_MS),
      milliseconds(specific(env, "TIMEOUT"), DEFAULT_TIMEOUT_MS),
    ),
    resource: {
      "service.name": "model-gateway",
      ...pairs("OTEL_RESOURCE_ATTRIBUTES"),
      ...(env["OTEL_SERVICE_NAME"] === undefined
        ? {}
        : { "service.name": env["OTEL_SERVICE_NAME"] }),
    },
  };
}

/** The pairs of a list of `name=value`, percent-decoded. */
function pairsOf(text: string, onProblem: () => void): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const pair of text.split(",").filter((one) => one.trim() !== "")) {
    const [, name, value] = /^\s*([^=\s]+)\s*=(.*)$/.exec(pair) ?? [];
    try {
      if (name === undefined || value === undefined) throw new URIError();
      pairs[decodeURIComponent(name)] = decodeURIComponent(value.trim());
    } catch {
      onProblem();
    }
  }
  return pairs;
}

function areHeaders(given: Readonly<Record<string, string>>): boolean {
  try {
    new Headers({ ...given });
    return true;
  } catch {
    return false;
  }
}
