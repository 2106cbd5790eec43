/** OpenTelemetry metrics of calls, from a gateway in its own process to a collector on loopback. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../translate/bytes/json.ts";
import {
  attributesOf,
  type Export,
  KEY,
  objectsIn,
  post,
  startCollector,
  startGatewayProcess,
  VENDOR_KEY,
} from "../support/programs/exporting_gateway.ts";
import {
  SCRIPTED_USAGE,
  startScriptedUpstream,
} from "../support/upstreams/scripted_upstream.ts";

const WORD = "Xyzzyprompt";
const SECRET = "collector-secret-0123456789";
const MESSAGES = [{ role: "user", content: WORD }];

interface Series {
  readonly metric: string;
  readonly unit: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
}

function jsonOf({ bytes }: Export): JsonObject {
  return JSON.parse(new TextDecoder().decode(bytes));
}

function seriesOf(one: Export): Series[] {
  return [...objectsIn(jsonOf(one), "histogram")].flatMap((metric) =>
    [...objectsIn(metric["histogram"], "bucketCounts")].map((point) => ({
      metric: String(metric["name"]),
      unit: String(metric["unit"]),
      attributes: attributesOf(point),
      count: Number(point["count"]),
      sum: Number(point["sum"]),
      bounds: (point["explicitBounds"] as number[]).map(Number),
    }))
  );
}

const callsIn = (one: Export): number =>
  seriesOf(one).filter(({ metric }) =>
    metric === "gen_ai.client.operation.duration"
  ).reduce((sum, { count }) => sum + count, 0);

Deno.test("calls are measured by the conventions, and each process by itself", async () => {
  await using upstream = startScriptedUpstream("reply-text");
  await using collector = startCollector();
  const { url, program } = await startGatewayProcess({
    VENDORA_BASE_URL: upstream.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/otlp/`,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET},x-tenant=a`,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,a%20b=c%2Cd",
    OTEL_SERVICE_NAME: "models",
    OTEL_METRIC_EXPORT_INTERVAL: "50",
  });
  await using _ = program;
  upstream.play(["ok"]);
  await (await post(url, { messages: MESSAGES })).text();
  await (await post(url, { messages: MESSAGES, stream: true })).text();
  upstream.play([], { status: 400 });
  const failed = await post(url, { messages: MESSAGES });
  assert.equal(failed.status, 400);
  await failed.text();
  // A call that is refused before it is reserved is none of the upstream's.
  const refused = await post(url, { messages: MESSAGES, model: "unknown" });
  assert.equal(refused.status, 404);
  await refused.text();
  const sent = await collector.received((one) => callsIn(one) === 3);

  assert.equal(sent.path, "/otlp/v1/metrics");
  assert.equal(sent.headers.get("authorization"), `Bearer ${SECRET}`);
  assert.equal(sent.headers.get("x-tenant"), "a");
  assert.equal(sent.headers.get("content-type"), "application/json");

  const [resource] = objectsIn(jsonOf(sent)["resourceMetrics"], "resource");
  const attributes = attributesOf(resource?.["resource"] as JsonObject);
  const { "service.instance.id": instance, ...named } = attributes;
  assert.match(String(instance), /^[0-9a-f-]{36}$/);
  assert.deepEqual(named, {
    "service.name": "models",
    "service.version": "0.9.0",
    "deployment.environment.name": "test",
    "a b": "c,d",
  });

  const common = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "vendora-opus-4-8",
    "server.address": "127.0.0.1",
    "server.port": Number(new URL(upstream.url).port),
  };
  const replied = {
    ...common,
    "gen_ai.response.model": "claude-opus-4-8",
  };
  const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28]
    .concat(2.56, 5.12, 10.24, 20.48, 40.96, 81.92);
  const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144]
    .concat(1048576, 4194304, 16777216, 67108864);
  const found = seriesOf(sent);
  assert.deepEqual(
    found.map(({ sum: _, ...rest }) => ({
      ...rest,
      attributes: {
        ...rest.attributes,
        "server.port": Number(rest.attributes["server.port"]),
      },
    })),
    [
      ...[
        { attributes: replied, count: 2 },
        {
          attributes: { ...common, "error.type": "invalid_request" },
          count: 1,
        },
      ].map((one) => ({
        metric: "gen_ai.client.operation.duration",
        unit: "s",
        bounds: seconds,
        ...one,
      })),
      {
        metric: "gen_ai.client.operation.time_to_first_chunk",
        unit: "s",
        bounds: seconds,
        attributes: replied,
        count: 1,
      },
      ...["input", "output"].map((type) => ({
        metric: "gen_ai.client.token.usage",
        unit: "{token}",
        bounds: tokens,
        attributes: { ...replied, "gen_ai.token.type": type },
        count: 2,
      })),
    ],
  );
  assert.deepEqual(
    found.filter(({ unit }) => unit === "{token}").map(({ sum }) => sum),
    [2 * SCRIPTED_USAGE.input, 2 * SCRIPTED_USAGE.output],
  );

  program.signal("SIGTERM");
  assert.equal(await program.ended, 0);
  const all = collector.exports.map(({ bytes }) =>
    new TextDecoder().decode(bytes)
  ).join("\n");
  assert.doesNotMatch(
    all,
    new RegExp([WORD, KEY, VENDOR_KEY, SECRET].join("|")),
  );
  assert.doesNotMatch(program.output(), new RegExp(SECRET));
});

Deno.test("the last calls are sent at the end of the process, compressed", async () => {
  await using upstream = startScriptedUpstream("reply-text");
  await using collector = startCollector();
  const { url, program } = await startGatewayProcess({
    VENDORA_BASE_URL: upstream.url,
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${collector.url}/v1/own`,
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
  });
  await using _ = program;
  await (await post(url, { messages: MESSAGES })).text();
  program.signal("SIGTERM");
  assert.equal(await program.ended, 0);
  const [sent, ...others] = collector.exports;
  assert.ok(sent !== undefined && others.length === 0);
  assert.equal(sent.path, "/v1/own");
  assert.equal(sent.headers.get("content-encoding"), "gzip");
  const text = await new Response(
    new Blob([sent.bytes]).stream().pipeThrough(
      new DecompressionStream("gzip"),
    ),
  ).text();
  assert.match(text, /gen_ai\.client\.token\.usage/);
  assert.match(text, /vendora-opus-4-8/);
});

Deno.test("a collector that does not answer delays neither calls nor the end, and is reported once", async () => {
  const upstream = startScriptedUpstream("reply-text");
  let answers = false;
  const released = Promise.withResolvers<Response>();
  await using collector = startCollector(() =>
    answers ? new Response("{}") : released.promise
  );
  const { url, program } = await startGatewayProcess({
    VENDORA_BASE_URL: upstream.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=${SECRET}`,
    OTEL_METRIC_EXPORT_INTERVAL: "100",
  });
  await using _ = program;
  try {
    await (await post(url, { messages: MESSAGES })).text();
    await program.printed(
      /"type":"metrics_export_fails","reason":"no reply in time"/,
    );
    const call = await post(url, { messages: MESSAGES });
    assert.equal(call.status, 200);
    await call.text();
    answers = true;
    await program.printed(/"type":"metrics_export_works"/);
    answers = false;
    await program.printed(
      /"type":"metrics_export_fails"[^]*"type":"metrics_export_fails"/,
    );
    program.signal("SIGTERM");
    assert.equal(await program.ended, 0);
    assert.equal(
      program.output().match(/"type":"metrics_export_fails"/g)?.length,
      2,
    );
    assert.doesNotMatch(program.output(), new RegExp(SECRET));
  } finally {
    released.resolve(new Response());
    await upstream.close();
  }
});
