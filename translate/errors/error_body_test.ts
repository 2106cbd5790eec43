import assert from "node:assert/strict";
import { readErrorText, upstreamError } from "./error_body.ts";

Deno.test("upstreamError() reads the retry delay from every form of the header", async (t) => {
  const date = "Sat, 21 Nov 2026 05:00:00 GMT";
  const rows: readonly (readonly [
    Readonly<Record<string, string>>,
    number | undefined,
  ])[] = [
    [{ "retry-after": "12" }, 12],
    [{ "retry-after": " 0.2 " }, 0.2],
    [{ "retry-after": "12", "retry-after-ms": "1500" }, 1.5],
    [{ "retry-after-ms": "1001.2" }, 1.002],
    [{ "retry-after": "12", "retry-after-ms": "soon" }, 12],
    [{ "retry-after": "Sat, 21 Nov 2026 05:01:00 GMT", date }, 60],
    [{ "retry-after": "Sat, 21 Nov 2026 05:01:00 GMT" }, undefined],
    [{ "retry-after": "Sat, 21 Nov 2026 04:00:00 GMT", date }, undefined],
    [{ "retry-after": "Sat, 21 Nov 2099 05:00:00 GMT", date }, undefined],
    [{ "retry-after": "" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{ "retry-after": "1e300" }, undefined],
    [{}, undefined],
  ];
  for (const [headers, seconds] of rows) {
    for (const status of [429, 500, 503, 502]) {
      await t.step(`${status} ${JSON.stringify(headers)}`, () => {
        const error = upstreamError(status, new Headers(headers), {
          detail: {},
        });
        assert.equal(error.details.retryAfterSeconds, seconds);
      });
    }
  }
});

Deno.test("upstreamError() passes on a vendor's retry advice, but not about the gateway's key", () => {
  const headers = new Headers({ "x-should-retry": "true" });
  const advice = [400, 429, 500, 401].map((status) =>
    upstreamError(status, headers, { detail: {} }).details.retryable
  );
  assert.deepEqual(advice, [true, true, true, false]);
});

Deno.test("upstreamError() reports an overflow only for a request error", async (t) => {
  const rows: readonly (readonly [number, string, string])[] = [
    [400, "Too many tokens", "context_length_exceeded"],
    [413, "prompt is too long", "context_length_exceeded"],
    [400, "input is too long for this model", "context_length_exceeded"],
    [
      400,
      "the request exceeds the available context size",
      "context_length_exceeded",
    ],
    [429, "Too many tokens, please wait", "undefined"],
    [404, "no context window for this model", "undefined"],
  ];
  for (const [status, message, code] of rows) {
    await t.step(`${status} ${message}`, () => {
      const error = upstreamError(status, new Headers(), {
        message,
        detail: {},
      });
      assert.equal(String(error.details.code), code);
    });
  }
});

Deno.test("readErrorText() finds the message in lists, in frames and in plain objects", () => {
  const texts = [
    '{"errors":[{"message":"a"}]}',
    '{"error":[{"message":"a"}]}',
    'event: error\ndata: {"error":{"message":"a"}}\n\n',
    '[{"error":{"message":"a"}}]',
  ];
  for (const text of texts) assert.equal(readErrorText(text).message, "a");
  assert.equal(readErrorText('{"error":""}').message, undefined);
});

Deno.test("readErrorText() marks the beginning of JSON that is cut as the upstream's words", () => {
  const whole = JSON.stringify({
    error: { type: "overloaded_error", message: "Too busy\n".repeat(100) },
  });
  const mark = "the upstream sent an error that is cut: ";
  for (const text of [whole, `[${whole}]`, ` \n${whole}`]) {
    for (let end = text.indexOf("{") + 1; end < text.length; end++) {
      const { message = "", detail } = readErrorText(text.slice(0, end));
      assert.ok(message.startsWith(`${mark}"${text.trim().slice(0, 1)}`));
      assert.ok(message.endsWith('"'));
      assert.ok(message.length <= mark.length + 302);
      assert.deepEqual(detail, {});
    }
    assert.ok(!readErrorText(text).message?.startsWith(mark));
  }
  assert.equal(
    readErrorText('data: {"error":{"mess').message,
    `${mark}"{"error":{"mess"`,
  );
});

Deno.test("readErrorText() reads the vendor's message inside a router's", () => {
  const routed = (raw: unknown, message = "Provider returned error"): string =>
    JSON.stringify({ error: { code: 400, message, metadata: { raw } } });
  const vendor = {
    error: { message: "prompt is too long: 2 tokens > 1 maximum" },
  };
  const both =
    "Provider returned error: prompt is too long: 2 tokens > 1 maximum";
  assert.equal(readErrorText(routed(JSON.stringify(vendor))).message, both);
  assert.equal(readErrorText(routed(vendor)).message, both);
  assert.equal(
    readErrorText(routed("plain words")).message,
    "Provider returned error: plain words",
  );
  for (const raw of ["", "{}", 5, null, {}]) {
    assert.equal(readErrorText(routed(raw)).message, "Provider returned error");
  }
  assert.equal(
    readErrorText(routed("x", "Its own words")).message,
    "Its own words",
  );
});

Deno.test("readErrorText() reads large pages without end tags", async (t) => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ["<", "<<<"],
    ["<title", "<title<title"],
    ["<title>", undefined],
    ["<title>a</", "a</ a</ "],
    ["<style", undefined],
    ["<script></style", undefined],
    ["< a", "< a< a"],
    ["<p", "<p<p"],
    ["data: {", 'the upstream sent an error that is cut: "{data: {'],
    ["\n", undefined],
    [" ", undefined],
  ];
  for (const [piece, begin] of rows) {
    // If its time grew with the square of the page's length, this would take hours.
    await t.step(JSON.stringify(piece), () => {
      const page = piece.repeat(4 * 1024 * 1024 / piece.length);
      const { message } = readErrorText(page);
      assert.equal(message?.slice(0, begin?.length), begin);
    });
  }
});

Deno.test("readErrorText() leaves out styles, scripts and tags", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["<STYLE>a{}</STYLE><p>Bad <b>gateway</b>", "Bad gateway"],
    ["<script>1<2</script>Bad<style>b</style> gateway", "Bad gateway"],
    ["Bad gateway<script>never closed", "Bad gateway"],
    ["1 < 2 and so on", "1 < 2 and so on"],
    ["<title lang=a>Bad gateway</title><p>x", "Bad gateway"],
  ];
  for (const [text, message] of rows) {
    assert.equal(readErrorText(text).message, message);
  }
});

Deno.test("a body without text gives no message", async (t) => {
  for (const body of ['""', '"  "', '{"error":""}', '{"error":" "}', " "]) {
    await t.step(
      body,
      () => assert.equal(readErrorText(body).message, undefined),
    );
  }
});
