import assert from "node:assert/strict";
import { type EncodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import { arrayOr, type JsonObject, objectOr } from "../../bytes/json.ts";
import { streamRelay, wholeReply } from "../../stream/relay.ts";
import {
  type UpstreamRequest,
  upstreamRequest,
} from "../../upstream_request.ts";
import type { Relay } from "../../stream/relay_interface.ts";
import { topLevelOf } from "../../bytes/json_splice.ts";
import { DEFAULT_CAPABILITIES } from "../../model/capabilities.ts";
import { namedFrame } from "../../stream/sse.ts";
import { responses } from "./mod.ts";
import { readResponseStream } from "./stream_grammar.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";
import { assistant } from "../../testing/request_samples.ts";
import { atOnce } from "../../steps.ts";

const CONTEXT: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked/for",
  wantUsage: true,
  inputEstimate: 11,
};
const OURS = `resp_${CONTEXT.idSeed}`;
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

const REPLY: JsonObject = {
  id: "resp_theirs",
  object: "response",
  created_at: 1_700_000_000,
  model: "theirs-2026",
  store: true,
  previous_response_id: "resp_old",
  tools: [{ type: "mcp", model: "deep", store: true, id: "resp_theirs" }],
  temperature: 1.0,
};
const MESSAGE: JsonObject = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{
    type: "output_text",
    text: "abcdefgh",
    annotations: [],
    logprobs: [],
  }],
};
const PLACE = { item_id: "msg_1", output_index: 0, content_index: 0 };

function frames(output: readonly unknown[] = [MESSAGE]): string[] {
  const events: JsonObject[] = [
    {
      type: "response.created",
      response: { ...REPLY, status: "in_progress", output: [], usage: null },
    },
    {
      type: "response.in_progress",
      response: { ...REPLY, status: "in_progress", output: [], usage: null },
    },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...MESSAGE, status: "in_progress", content: [] },
    },
    {
      type: "response.content_part.added",
      ...PLACE,
      part: { type: "output_text", text: "" },
    },
    ...[..."abcdefgh"].map((delta) => ({
      type: "response.output_text.delta",
      ...PLACE,
      delta,
      logprobs: [],
      obfuscation: "x".repeat(delta.charCodeAt(0) % 5),
    })),
    { type: "response.output_text.done", ...PLACE, text: "abcdefgh" },
    {
      type: "response.content_part.done",
      ...PLACE,
      part: { type: "output_text", text: "abcdefgh" },
    },
    { type: "response.output_item.done", output_index: 0, item: MESSAGE },
    {
      type: "response.completed",
      response: {
        ...REPLY,
        status: "completed",
        output,
        usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
      },
    },
  ];
  return events.map((event, sequence_number) =>
    namedFrame(
      String(event["type"]),
      JSON.stringify({ ...event, sequence_number }),
    )
  );
}

const relayOf = (context: EncodeContext = CONTEXT): Relay =>
  streamRelay(responses, responses, PLAIN_CONTEXT, context);

function pushed(relay: Relay, texts: readonly string[]): string {
  return texts.map((text) => DECODER.decode(relay.push(ENCODER.encode(text))))
    .join("");
}

/** The frames with only the gateway's fields replaced. */
function expected(texts: readonly string[]): string {
  return texts.join("")
    .replaceAll('"response":{"id":"resp_theirs"', `"response":{"id":"${OURS}"`)
    .replaceAll('"model":"theirs-2026"', '"model":"asked/for"')
    .replaceAll(
      '"store":true,"previous_response_id":"resp_old"',
      '"store":false,"previous_response_id":null',
    );
}

Deno.test("a stream that passes through keeps its bytes except for the gateway's fields", () => {
  const relay = relayOf();
  const out = pushed(relay, frames()) + DECODER.decode(relay.end());
  assert.equal(out, expected(frames()));
  assert.ok(out.includes('"model":"deep"'));
  assert.ok(relay.done());
  assert.equal(relay.progress().usage.output, 5);
  assert.equal(relay.progress().generatedChars, 8);
});

Deno.test("a stream that passes through is the same wherever it is split", () => {
  const all = ENCODER.encode(frames().join(""));
  const whole = expected(frames());
  for (let size = 1; size < 300; size++) {
    const relay = relayOf();
    let out = "";
    for (let at = 0; at < all.length; at += size) {
      out += DECODER.decode(relay.push(all.subarray(at, at + size)));
    }
    assert.equal(out + DECODER.decode(relay.end()), whole, `${size}`);
  }
});

Deno.test("a keep-alive gets the next sequence number, and later frames are renumbered", () => {
  const all = frames();
  for (let at = 1; at < all.length; at++) {
    for (const isOneChunk of [false, true]) {
      const relay = relayOf();
      const parts = (texts: readonly string[]): readonly string[] =>
        isOneChunk ? [texts.join("")] : texts;
      const out = pushed(relay, parts(all.slice(0, at))) +
        DECODER.decode(relay.ping()) + DECODER.decode(relay.ping()) +
        pushed(relay, parts(all.slice(at)));
      const { types, reply } = readResponseStream(out);
      // Before any frame was sent, the first ping sends the first frames of the reply.
      const signs = types.filter((type) => type === "keepalive").length;
      assert.equal(signs, at < 3 ? 1 : 2);
      assert.equal(reply["id"], OURS);
    }
  }
});

Deno.test("a stream that began before its upstream answered continues without a second beginning", () => {
  const context = { ...CONTEXT, opened: { frames: 0 } };
  const waiting = relayOf(context);
  const before = DECODER.decode(waiting.ping()) +
    DECODER.decode(waiting.ping());
  const after = pushed(relayOf(context), frames());
  const { types, ending } = readResponseStream(before + after);
  assert.equal(ending, "completed");
  assert.deepEqual(types.slice(0, 4), [
    "created",
    "in_progress",
    "keepalive",
    "output_item.added",
  ]);
});

Deno.test("a stream that breaks while passing through ends in an error after any frame, with the content so far", () => {
  const all = frames();
  for (let kept = 1; kept < all.length; kept++) {
    for (const how of ["end", "fail", "error frame"] as const) {
      const relay = relayOf();
      const error = new ApiError("timeout", "too slow");
      const out = pushed(relay, all.slice(0, kept)) + DECODER.decode(
        how === "end"
          ? relay.end()
          : how === "fail"
          ? relay.fail(error)
          : relay.push(ENCODER.encode(namedFrame(
            "error",
            '{"type":"error","message":"too slow","sequence_number":99}',
          ))),
      );
      assert.ok(relay.progress().error !== undefined);
      const read = JSON.parse(
        out.trimEnd().split("\n").at(-1)?.slice("data: ".length) ?? "",
      );
      assert.equal(read.type, "response.failed");
      assert.equal(
        read.response.created_at,
        JSON.parse(out.split("\n")[1]?.slice("data: ".length) ?? "").response
          .created_at,
      );
      assert.equal(read.sequence_number, Math.max(kept, 2) + 1);
      const [item] = arrayOr(objectOr(read.response)["output"]).map(objectOr);
      if (kept <= 4) assert.equal(textOf(item), "");
      if (kept === 7) {
        assert.equal(textOf(item), "abc");
        assert.equal(item?.["status"], "incomplete");
      }
      if (kept === all.length - 1) assert.deepEqual(item, MESSAGE);
      assert.ok(!out.includes("response.completed"));
    }
  }
});

Deno.test("a stream that breaks in reasoning or in a call repeats what was sent of it", async (t) => {
  const rows = {
    reasoning: {
      item: { id: "rs_1", type: "reasoning", summary: [] },
      deltas: [["one ", 0], ["step", 0], ["next", 1]].map((
        [delta, summary_index],
      ) => ({
        type: "response.reasoning_summary_text.delta",
        summary_index,
        delta,
      })),
      cut: { summary: [{ type: "summary_text", text: "one step\n\nnext" }] },
    },
    "a call": {
      item: {
        id: "fc_1",
        type: "function_call",
        call_id: "call_1",
        name: "f",
        arguments: "",
      },
      deltas: ['{"a"', ":1", ",2"].map((delta) => ({
        type: "response.function_call_arguments.delta",
        delta,
      })),
      cut: { status: "incomplete", arguments: '{"a":1,2' },
    },
  };
  for (const [name, { item, deltas, cut }] of Object.entries(rows)) {
    await t.step(name, () => {
      const relay = relayOf();
      const events: readonly JsonObject[] = [
        { type: "response.output_item.added", output_index: 0, item },
        ...deltas.map((delta) => ({ ...delta, output_index: 0 })),
      ];
      const sent = events.map((event) =>
        namedFrame(String(event["type"]), JSON.stringify(event))
      );
      const out = pushed(relay, sent) + DECODER.decode(relay.end());
      const last = out.trimEnd().split("\n").at(-1) ?? "";
      const { response } = JSON.parse(last.slice("data: ".length));
      assert.deepEqual(response.output, [{ ...item, ...cut }]);
    });
  }
});

function textOf(item: JsonObject | undefined): unknown {
  return objectOr(arrayOr(item?.["content"])[0])["text"] ?? "";
}

Deno.test("an empty output in the upstream's last frame is filled with the items of the stream", () => {
  const { reply } = readResponseStream(pushed(relayOf(), frames([])));
  assert.deepEqual(reply["output"], [MESSAGE]);
});

Deno.test("a whole reply that passes through keeps its bytes except for the gateway's fields", () => {
  const body = `{"id": "resp_theirs", "status":"completed", "n": 1.0,
    "model":"theirs", "output":[${JSON.stringify(MESSAGE)}], "store":true,
    "previous_response_id":"x", "usage":{"input_tokens":1,"output_tokens":2}}`;
  const whole = atOnce(wholeReply(
    responses,
    responses,
    PLAIN_CONTEXT,
    CONTEXT,
    ENCODER.encode(body),
  ));
  assert.equal(
    DECODER.decode(whole.body),
    body.replace("resp_theirs", OURS).replace('"theirs"', '"asked/for"')
      .replace('"store":true', '"store":false')
      .replace('"previous_response_id":"x"', '"previous_response_id":null'),
  );
});

function requested(body: JsonObject): UpstreamRequest {
  const text = JSON.stringify(body);
  const bytes = ENCODER.encode(text);
  return upstreamRequest(
    {
      dialect: responses,
      bytes,
      body,
      top: topLevelOf(bytes),
      request: atOnce(responses.decodeRequest(body)),
    },
    responses,
    "theirs",
    DEFAULT_CAPABILITIES.responses,
  );
}

function passed(body: JsonObject): string {
  return DECODER.decode(requested(body).bytes);
}

Deno.test("a request that passes through asks its upstream to store nothing", () => {
  assert.equal(
    passed({ model: "m", input: "hi", unknown: 1, store: true }),
    '{"model":"theirs","input":"hi","unknown":1,"store":false,"include":["reasoning.encrypted_content"]}',
  );
  assert.equal(
    passed({
      model: "m",
      input: [{ type: "compaction", encrypted_content: "x" }],
      store: false,
      include: ["reasoning.encrypted_content"],
    }),
    '{"model":"theirs","input":[{"type":"compaction","encrypted_content":"x"}],"store":false,"include":["reasoning.encrypted_content"]}',
  );
});

Deno.test("a request that passes through contains no signature of another format, and no id of an item that is not stored", () => {
  const sent = JSON.parse(passed({
    model: "m",
    input: [
      {
        type: "reasoning",
        id: "rs_1",
        summary: [],
        encrypted_content: "gw1:messages:x",
      },
      { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "own" },
      {
        type: "reasoning",
        id: "rs_3",
        summary: [{ type: "summary_text", text: "hm" }],
      },
      assistant("hi"),
    ],
  }));
  assert.deepEqual(sent.input, [
    { type: "reasoning", id: "rs_2", summary: [], encrypted_content: "own" },
    assistant("hi"),
  ]);
});

Deno.test("streamEnding() replaces fields at the right place beside text beyond ASCII and in data on two lines", () => {
  const response = {
    ...REPLY,
    instructions: "é😀 ".repeat(20),
    status: "in_progress",
    output: [],
  };
  const data = JSON.stringify({ type: "response.created", response });
  const item = JSON.stringify({
    type: "response.output_item.added",
    output_index: 0,
    item: { ...MESSAGE, content: [] },
  });
  const oneLine = `data: ${data}\n\ndata: ${item}\n\n`;
  const relay = streamRelay(responses, responses, PLAIN_CONTEXT, CONTEXT);
  const sent = DECODER.decode(relay.push(ENCODER.encode(oneLine)));
  const first = JSON.parse(sent.slice("data: ".length, sent.indexOf("\n")));
  assert.deepEqual(first.response, {
    ...response,
    id: OURS,
    model: CONTEXT.model,
    store: false,
    previous_response_id: null,
  });
  const twoLines = `data: ${data.replace(',"', ',\ndata: "')}\n\n` +
    `data: ${item}\n\n`;
  const other = streamRelay(responses, responses, PLAIN_CONTEXT, CONTEXT);
  assert.equal(
    DECODER.decode(other.push(ENCODER.encode(twoLines))),
    twoLines,
  );
});

Deno.test("a request that passes through contains no id that is longer than the format allows", () => {
  const item = (id: string) => ({
    type: "message",
    id,
    role: "assistant",
    content: [{ type: "output_text", text: "hi" }],
  });
  const longest = "m".repeat(64);
  const { id: _, ...bare } = item("");
  const asked = { model: "m", input: [item(longest), item(`${longest}m`)] };
  assert.deepEqual(JSON.parse(passed(asked)).input, [item(longest), bare]);
});

Deno.test("streamEnding() ends with an error where an item nests too deep to be written again", async (t) => {
  // Numeric keys make V8 write recursively.
  const deep = `${'{"5":'.repeat(9_000)}1${"}".repeat(9_000)}`;
  const item = `{"id":"x_1","type":"future_call","input":${deep}}`;
  const added =
    `data: {"type":"response.output_item.added","output_index":0,"item":${item}}\n\n`;
  const rows = {
    "cut behind its first frame": added,
    "complete, with an empty output at the end": added +
      `data: {"type":"response.output_item.done","output_index":0,"item":${item}}\n\n` +
      `data: {"type":"response.completed","response":{"status":"completed","output":[]}}\n\n`,
  };
  for (const [name, frames] of Object.entries(rows)) {
    await t.step(name, () => {
      const relay = relayOf();
      const sent = DECODER.decode(relay.push(ENCODER.encode(frames))) +
        DECODER.decode(relay.end());
      assert.equal(relay.progress().error?.kind, "upstream");
      assert.match(sent, /^event: error\n/m);
      assert.match(sent, /^event: response\.failed\n/m);
      assert.doesNotMatch(sent, /response\.completed/);
    });
  }
});

Deno.test("a request that passes through compares its cache with no reply of this gateway", () => {
  const { bytes, dropped } = requested({
    model: "m",
    input: "hi",
    prompt_cache_options: { ttl: "12h", comparison_response_id: "resp_1" },
  });
  assert.deepEqual(JSON.parse(DECODER.decode(bytes)).prompt_cache_options, {
    ttl: "12h",
  });
  assert.deepEqual(dropped, ["prompt_cache_options.comparison_response_id"]);
});
