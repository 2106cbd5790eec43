/**
 * OpenTelemetry: the gateway in a separate process, with a collector and an upstream on loopback.
 */
import assert from "node:assert/strict";
import { isObject, type JsonObject } from "../../translate/bytes/json.ts";
import {
  SCRIPTED_USAGE,
  startScriptedUpstream,
} from "../support/upstreams/scripted_upstream.ts";
import {
  attributesOf,
  KEY,
  objectsIn,
  post,
  startCollector,
  startGatewayProcess,
  VENDOR_KEY,
} from "../support/programs/exporting_gateway.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID = "00f067aa0ba902b7";
const WORD = "Xyzzyprompt";

/** A span as the collector receives it. */
interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** OTLP requires that the keys of a span's attributes are unique. */
function assertUnique({ name, attributes }: JsonObject): void {
  assert.ok(Array.isArray(attributes));
  const keys = attributes.map(({ key }) => key);
  assert.deepEqual(keys, [...new Set(keys)], String(name));
}

function spanOf(raw: JsonObject): Span {
  assertUnique(raw);
  const ms = (name: string): number =>
    Number(BigInt(String(raw[name])) / 1000n) / 1000;
  return {
    name: String(raw["name"]),
    traceId: String(raw["traceId"]),
    spanId: String(raw["spanId"]),
    parentSpanId: String(raw["parentSpanId"]),
    startMs: ms("startTimeUnixNano"),
    endMs: ms("endTimeUnixNano"),
    status: raw["status"],
    attributes: attributesOf(raw),
  };
}

/** Runs the gateway while a test makes calls; returns everything that was exported. */
async function exported(
  env: Readonly<Record<string, string>>,
  run: (url: string) => Promise<void>,
): Promise<{ readonly text: string; readonly spans: readonly Span[] }> {
  await using collector = startCollector();
  const { url, program } = await startGatewayProcess({
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    // `otlp_metrics_test.ts` has them.
    OTEL_METRICS_EXPORTER: "none",
    ...env,
  });
  await using _ = program;
  await run(url);
  program.signal("SIGTERM");
  await program.ended;
  const bodies = collector.exports.map(({ bytes }) =>
    new TextDecoder().decode(bytes)
  );
  const spans = bodies.flatMap((body) =>
    [...objectsIn(JSON.parse(body), "startTimeUnixNano")].filter((raw) =>
      "spanId" in raw
    ).map(spanOf)
  );
  return { text: bodies.join("\n"), spans };
}

function ask(url: string, body: JsonObject): Promise<Response> {
  return post(url, { messages: [{ role: "user", content: WORD }], ...body }, {
    traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
  });
}

Deno.test("a call's span lasts as long as the stream; its parent is in the client's trace, and the upstream's call is its child", async () => {
  await using upstream = startScriptedUpstream("reply-text");
  const gate = Promise.withResolvers<void>();
  upstream.play([{ after: gate.promise, action: "ok" }]);
  let openedMs = 0;
  const { text, spans } = await exported({
    VENDORA_BASE_URL: upstream.url,
    GATEWAY_PING_SECONDS: "0.05",
  }, async (url) => {
    // The first ping sends the head, which ends the span of the HTTP request.
    const response = await ask(url, { stream: true });
    assert.equal(response.status, 200);
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.read();
    openedMs = Date.now();
    gate.resolve();
    while ((await reader?.read())?.done === false);
  });
  const span = spans.find(({ name }) => name === "chat vendora-opus-4-8");
  const request = spans.find(({ spanId }) => spanId === span?.parentSpanId);
  assert.ok(span !== undefined && request !== undefined, text);
  assert.equal(span.traceId, TRACE_ID);
  assert.equal(request.parentSpanId, PARENT_ID);
  assert.ok(request.endMs <= openedMs + 1, "the request's span ended");
  assert.ok(span.endMs >= openedMs, "the call's span continues");
  assert.ok(span.startMs <= request.endMs);
  const [call] = upstream.calls;
  assert.equal(
    call?.headers["traceparent"],
    `00-${TRACE_ID}-${span.spanId}-01`,
  );
  const { attributes } = span;
  assert.equal(attributes["gen_ai.request.model"], "vendora-opus-4-8");
  assert.equal(attributes["gateway.upstream"], "vendora/claude-opus-4-8");
  assert.equal(
    Number(attributes["gen_ai.usage.input_tokens"]),
    SCRIPTED_USAGE.input,
  );
  assert.equal(
    Number(attributes["gen_ai.usage.output_tokens"]),
    SCRIPTED_USAGE.output,
  );
  assert.equal(Number(attributes["http.response.status_code"]), 200);
  assert.equal(attributes["gateway.ended"], "complete");
  assert.deepEqual(
    Object.fromEntries(
      Object.entries(attributes).filter(([name]) =>
        /^(gen_ai\.(?!usage|response\.time)|server)/.test(name)
      ).map(([name, value]) => [
        name,
        isObject(value) ? [...objectsIn(value, "stringValue")] : value,
      ]),
    ),
    {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "vendora-opus-4-8",
      "gen_ai.request.stream": true,
      "gen_ai.request.max_tokens": 50,
      "gen_ai.response.model": "claude-opus-4-8",
      "gen_ai.response.finish_reasons": [{ stringValue: "stop" }],
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(upstream.url).port),
    },
  );
  assert.ok(Number(attributes["gen_ai.response.time_to_first_chunk"]) > 0);
  const attempt = spans.find(({ name }) =>
    name === "attempt vendora/claude-opus-4-8"
  );
  assert.equal(attempt?.parentSpanId, span.spanId);
  assert.equal(attempt.traceId, TRACE_ID);
  assert.equal(Number(attempt.attributes["http.response.status_code"]), 200);
  assert.ok(attempt.startMs >= span.startMs && attempt.endMs <= span.endMs);
  assert.doesNotMatch(
    text,
    new RegExp(`${WORD}|reply-text|${KEY}|${VENDOR_KEY}`),
  );
  // No exported span contains the upstream's address.
  for (const one of spans) {
    const full = String(one.attributes["url.full"] ?? "");
    assert.ok(!full.startsWith(upstream.url), full);
  }
});

Deno.test("a failed call has a span with the error and the number of attempts", async () => {
  await using upstream = startScriptedUpstream("a");
  upstream.play([], { status: 529 });
  const { spans } = await exported({
    VENDORA_BASE_URL: upstream.url,
  }, async (url) => {
    const response = await ask(url, {});
    assert.equal(response.status, 529);
    await response.text();
  });
  const span = spans.find(({ name }) => name.startsWith("chat "));
  assert.ok(span !== undefined);
  assert.equal(span.attributes["error.type"], "overloaded");
  assert.equal(span.attributes["gateway.ended"], "refused");
  assert.equal(Number(span.attributes["gateway.upstream_status"]), 529);
  assert.equal(Number(span.attributes["gateway.attempts"]), 2);
  assert.equal(isObject(span.status) && span.status["code"], 2);
  const attempts = spans.filter(({ name }) => name.startsWith("attempt "));
  assert.deepEqual(
    attempts.map(({ parentSpanId, attributes }) => [
      parentSpanId,
      attributes["error.type"],
      Number(attributes["http.response.status_code"]),
    ]),
    [[span.spanId, "overloaded", 529], [span.spanId, "overloaded", 529]],
  );
});

Deno.test("a generated key is not exported", async () => {
  const { text } = await exported({ GATEWAY_KEY: "" }, async (url) => {
    const response = await fetch(`${url}/healthz`);
    await response.text();
  });
  assert.match(text, /healthz/);
  assert.doesNotMatch(text, /sk-/);
});
