import assert from "node:assert/strict";
import { otlpSettings } from "./otlp_settings.ts";

function read(env: Readonly<Record<string, string>>) {
  const problems: string[] = [];
  const settings = otlpSettings(env, (name, message) => {
    problems.push(`${name}: ${message}`);
  });
  return { settings, problems };
}

Deno.test("otlpSettings() sends nothing without an endpoint, or where it is turned off", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  for (
    const env of [
      {},
      { OTEL_DENO: "true" },
      { ...endpoint, OTEL_METRICS_EXPORTER: "none" },
      { ...endpoint, OTEL_METRICS_EXPORTER: "prometheus" },
      { ...endpoint, OTEL_SDK_DISABLED: "TRUE" },
    ]
  ) assert.deepEqual(read(env), { settings: undefined, problems: [] });
  assert.equal(
    read({ OTEL_METRICS_EXPORTER: "prometheus, otlp" }).settings?.url,
    "http://localhost:4318/v1/metrics",
  );
});

Deno.test("otlpSettings() prefers the settings of metrics to those of every signal", () => {
  const { settings, problems } = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1/base/",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://127.0.0.1:2/own",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=2",
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: " b = x%3Dy ,",
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "Delta",
    OTEL_METRIC_EXPORT_INTERVAL: "5000",
    OTEL_EXPORTER_OTLP_TIMEOUT: "7000",
    OTEL_RESOURCE_ATTRIBUTES: "service.name=other,team=a",
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(settings, {
    url: "http://127.0.0.1:2/own",
    headers: { a: "1", b: "x=y" },
    isCompressed: false,
    isDelta: true,
    intervalMs: 5000,
    timeoutMs: 5000,
    resource: { "service.name": "other", team: "a" },
  });
});

Deno.test("otlpSettings() names every wrong setting, without its value", () => {
  const { problems } = read({
    OTEL_METRICS_EXPORTER: "otlp,tcp",
    OTEL_EXPORTER_OTLP_ENDPOINT: "collector-secret",
    OTEL_EXPORTER_OTLP_PROTOCOL: "grpc-secret",
    OTEL_EXPORTER_OTLP_COMPRESSION: "zip",
    OTEL_EXPORTER_OTLP_HEADERS: "token-secret",
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: "a b=secret,%0A=secret",
    OTEL_RESOURCE_ATTRIBUTES: "team=%ZZ",
    OTEL_METRIC_EXPORT_INTERVAL: "0",
    OTEL_EXPORTER_OTLP_TIMEOUT: "1s",
  });
  assert.deepEqual(problems.map((one) => one.split(": ")[0]).toSorted(), [
    "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_TIMEOUT",
    "OTEL_METRICS_EXPORTER",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_RESOURCE_ATTRIBUTES",
  ]);
  assert.doesNotMatch(problems.join(), /secret/);
});
