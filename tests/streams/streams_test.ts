/**
 * Streams over time: no buffering, pings during silence, time limits that end in an error, and
 * disconnects that reach the upstream.
 */
import assert from "node:assert/strict";
import { smallBody } from "../support/small_body.ts";
import {
  startTestGateway,
  TEST_KEY,
  type TestGateway,
} from "../support/test_gateway.ts";

const MODELS: readonly string[] = [
  "vendora-opus-4-8",
  "vendorb-5",
  "vendorc-3-flash",
];
const PATHS: readonly string[] = ["/v1/messages", "/v1/chat/completions"];

function ask(model: string, text: string, stream = true): unknown {
  return smallBody({ model, text, stream });
}

async function eachWay(
  t: Deno.TestContext,
  env: Record<string, string>,
  run: (gateway: TestGateway, path: string, model: string) => Promise<void>,
): Promise<void> {
  await using gateway = await startTestGateway({ env });
  for (const path of PATHS) {
    for (const model of MODELS) {
      await t.step(`${path} from ${model}`, () => run(gateway, path, model));
    }
  }
}

async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  wanted: RegExp,
  text = "",
): Promise<string> {
  const decoder = new TextDecoder();
  while (!wanted.test(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the stream ended without ${wanted}:\n${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  assert.equal(response.status, 200);
  assert.ok(response.body !== null);
  return response.body.getReader();
}

Deno.test("a stream's head keeps intermediaries from buffering it", (t) =>
  eachWay(t, {}, async ({ post }, path, model) => {
    const response = await post(path, ask(model, "[[fx:text]]"));
    assert.match(
      response.headers.get("content-type") ?? "",
      /^text\/event-stream/,
    );
    assert.match(
      response.headers.get("cache-control") ?? "",
      /no-cache.*no-transform/,
    );
    assert.equal(response.headers.get("x-accel-buffering"), "no");
    assert.equal(response.headers.get("content-encoding"), null);
    await response.body?.cancel();
  }));

Deno.test("text reaches the client while the upstream holds back the rest", (t) =>
  eachWay(t, {}, async ({ post, replay }, path, model) => {
    for (const at of [8, 40]) {
      const gate = `rest-${at}-${path}-${model}`.replaceAll("/", "-");
      const reader = readerOf(
        await post(path, ask(model, `[[fx:text-long?gate=${gate}&at=${at}]]`)),
      );
      await replay.gateReached(gate);
      const early = await readUntil(reader, /"text_delta"|"content":"[^"]/);
      assert.doesNotMatch(early, /message_stop|\[DONE\]/);
      replay.openGate(gate);
      await readUntil(reader, /message_stop|\[DONE\]/, early);
      await reader.cancel();
    }
  }));

Deno.test("silence in a stream is filled with pings, in the middle and before the first frame", (t) =>
  eachWay(
    t,
    { GATEWAY_PING_SECONDS: "0.05" },
    async ({ post }, path, model) => {
      const ping = path === "/v1/messages"
        ? /event: ping\ndata: \{"type": "ping"\}\n\n/
        : /^: keep-alive\n\n/m;
      const middle = readerOf(await post(path, ask(model, "[[fx:hold-mid]]")));
      // One family's fixture has a ping of its own: at least two of three are the gateway's.
      const text = await readUntil(
        middle,
        new RegExp(`(${ping.source}[^]*){3}`, "m"),
      );
      assert.doesNotMatch(text, /message_stop|\[DONE\]/);
      await middle.cancel();
      const before = readerOf(await post(path, ask(model, "[[fx:hold-head]]")));
      await readUntil(before, /(: keep-alive\n\n[^]*){2}/);
      await before.cancel();
    },
  ));

Deno.test("silence beyond the limit ends in an error, before and inside the stream", (t) =>
  eachWay(
    t,
    {
      GATEWAY_IDLE_TIMEOUT_SECONDS: "0.2",
      GATEWAY_FIRST_BYTE_TIMEOUT_SECONDS: "0.2",
    },
    async ({ post }, path, model) => {
      for (const stream of [false, true]) {
        const late = await post(path, ask(model, "[[fx:hold]]", stream));
        assert.equal(late.status, 504);
        assert.match(
          await late.text(),
          /"message":"the upstream did not answer in time"/,
        );
      }
      const cut = await (await post(path, ask(model, "[[fx:hold-mid]]")))
        .text();
      assert.match(cut, /"message":"the upstream fell silent/);
      assert.doesNotMatch(cut, /message_stop|\[DONE\]/);
    },
  ));

Deno.test("an answer beyond the total limit is cut off with an error", (t) =>
  eachWay(
    t,
    { GATEWAY_TOTAL_TIMEOUT_SECONDS: "0.3", GATEWAY_PING_SECONDS: "0.05" },
    async ({ post, replay }, path, model) => {
      const nonce = `total-${path}-${model}`.replaceAll("/", "-");
      const text =
        await (await post(path, ask(model, `[[fx:hold-mid#${nonce}]]`))).text();
      assert.match(
        text,
        /"message":"the answer took longer than the gateway allows"/,
      );
      assert.equal(
        await (await replay.requestLog.waitForNonce(nonce)).ended,
        "caller-hung-up",
      );
      const whole = await post(path, ask(model, "[[fx:hold]]", false));
      assert.equal(whole.status, 504);
      await whole.body?.cancel();
    },
  ));

Deno.test("a client with a large request that disconnects before the answer is noticed too", (t) =>
  eachWay(
    t,
    { GATEWAY_LEFT_CLIENT_SECONDS: "0" },
    async ({ url, replay }, path, model) => {
      const nonce = `large-${path}-${model}`.replaceAll("/", "-");
      const controller = new AbortController();
      const filler = "word ".repeat(20_000);
      const reply = fetch(url + path, {
        method: "POST",
        headers: { "x-api-key": TEST_KEY, "content-type": "application/json" },
        body: JSON.stringify(
          ask(model, `${filler}[[fx:hold#${nonce}]]`, false),
        ),
        signal: controller.signal,
      }).catch(() => {});
      const entry = await replay.requestLog.waitForNonce(nonce);
      controller.abort();
      assert.equal(await entry.ended, "caller-hung-up");
      await reply;
    },
  ));

Deno.test("an error in a stream's first frame becomes a real status", async (t) => {
  const statuses: Readonly<Record<string, readonly [number, number]>> = {
    "vendora-opus-4-8": [529, 503],
    "vendorb-5": [500, 500],
    "vendorc-3-flash": [503, 503],
  };
  await eachWay(t, {}, async ({ post }, path, model) => {
    const response = await post(path, ask(model, "[[fx:error-first]]"));
    const [messages, chat] = statuses[model] ?? [];
    assert.equal(response.status, path === "/v1/messages" ? messages : chat);
    assert.equal(response.headers.get("content-type"), "application/json");
    await response.body?.cancel();
  });
});
