/**
 * Upstream streams with any frames in any order: clients of every format receive a valid stream,
 * wherever the upstream's bytes are split.
 */
import { atOnce } from "../../steps.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { type EncodeContext, PLAIN_CONTEXT } from "../../dialect.ts";
import { ApiError } from "../../model/error.ts";
import type { JsonObject } from "../../bytes/json.ts";
import { streamRelay, wholeOfStream } from "../../stream/relay.ts";
import type { ReplyEvent } from "../../model/reply.ts";
import { sseParser } from "../../stream/sse.ts";
import { responses } from "./mod.ts";
import { readResponseStream } from "./stream_grammar.ts";
import { ENCODE_CONTEXT } from "../../testing/encode_context.ts";

const ENCODE: EncodeContext = {
  ...ENCODE_CONTEXT,
  model: "asked",
  wantUsage: true,
};
const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

const odd = fc.constantFrom<unknown>(
  null,
  undefined,
  "",
  0,
  -1,
  1.5,
  "x",
  [],
  {},
  [null],
  true,
  "\ud83d",
);
const or = <T>(values: readonly T[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, odd);

const item = fc.record({
  id: or(["i1", "i2"]),
  type: or([
    "message",
    "reasoning",
    "function_call",
    "custom_tool_call",
    "web_search_call",
  ]),
  call_id: or(["c1", "c2"]),
  name: or(["f", "g"]),
  namespace: or([undefined, "ns"]),
  arguments: or<unknown>(["", '{"a"', '{"a":1}', { a: 1 }]),
  input: or(["", "text"]),
  content: or<unknown>([
    [],
    [{ type: "output_text", text: "abc" }],
    [{ type: "refusal", refusal: "no" }],
  ]),
  summary: or<unknown>([[], [{ type: "summary_text", text: "hm" }]]),
  encrypted_content: or([undefined, "proof"]),
});
const response = fc.record({
  id: or(["r"]),
  model: or(["m"]),
  status: or(["completed", undefined, "in_progress", "incomplete"]),
  output: fc.array(item, { maxLength: 2 }),
  usage: or<unknown>([{ input_tokens: 3, output_tokens: 2 }, undefined]),
  error: or<unknown>([null, undefined, { message: "m" }]),
});
const frame = fc.record({
  type: fc.constantFrom(
    "response.created",
    "response.in_progress",
    "keepalive",
    "response.output_item.added",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_item.done",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.refusal.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.done",
    "error",
    "response.unheard_of",
  ),
  output_index: or([0, 0, 1, 2]),
  content_index: or([0, 1]),
  summary_index: or([0, 1]),
  delta: or(["a", "bc", '"q"\n']),
  text: or(["abc", "a"]),
  arguments: or(['{"a":1}']),
  input: odd,
  item,
  response,
  message: odd,
  error: odd,
});
const stream = fc.array(fc.tuple(frame, fc.boolean()), { maxLength: 20 }).map(
  (frames) =>
    frames.map(([data, isNamed], n) => {
      const event = isNamed ? `event: ${data.type}\n` : "";
      const numbered: JsonObject = { ...data, sequence_number: n };
      return `${event}data: ${JSON.stringify(numbered)}\n\n`;
    }).join(""),
);

Deno.test("whatever frames an upstream sends, the events are valid and the client's stream follows the grammar", () => {
  fc.assert(fc.property(stream, (text) => {
    const decoder = responses.streamDecoder(PLAIN_CONTEXT);
    const frames = sseParser().push(ENCODER.encode(text));
    const events: ReplyEvent[] = [
      ...frames.flatMap((one) => decoder.push(one)),
      ...decoder.end(),
    ];
    let isOpen = false;
    for (const { type } of events) {
      if (type === "open") assert.ok(!isOpen);
      if (type === "close" || type === "delta" || type === "sign") {
        assert.ok(isOpen, type);
      }
      if (type === "end") assert.ok(!isOpen);
      isOpen = type === "open" || (isOpen && type !== "close");
    }
    assert.match(events.at(-1)?.type ?? "", /^(?:end|error)$/);
    const encoder = responses.streamEncoder(ENCODE);
    readResponseStream(events.map((event) => encoder.push(event)).join(""));
  }));
});

Deno.test("whatever frames an upstream sends, they pass through identically wherever they are split, with one ending", () => {
  fc.assert(
    fc.property(stream, fc.integer({ min: 1, max: 60 }), (text, size) => {
      const bytes = ENCODER.encode(text);
      const through = (step: number): string => {
        const relay = streamRelay(responses, responses, PLAIN_CONTEXT, ENCODE);
        let out = "";
        for (let at = 0; at < bytes.length; at += step) {
          out += DECODER.decode(relay.push(bytes.subarray(at, at + step)));
        }
        out += DECODER.decode(relay.end());
        assert.ok(relay.done());
        return out;
      };
      assert.equal(through(size), through(bytes.length + 1));
      try {
        atOnce(
          wholeOfStream(responses, responses, PLAIN_CONTEXT, ENCODE, bytes),
        );
      } catch (error) {
        assert.ok(error instanceof ApiError);
      }
    }),
  );
});
