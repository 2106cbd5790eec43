import { atOnce } from "../steps.ts";
import assert from "node:assert/strict";
import { type EncodeContext, PLAIN_CONTEXT } from "../dialect.ts";
import { generateContent } from "../formats/generate_content/mod.ts";
import { messages } from "../formats/messages/mod.ts";
import { ApiError } from "../model/error.ts";
import { streamOfWhole, streamRelay } from "./relay.ts";
import { ENCODE_CONTEXT } from "../testing/encode_context.ts";

const ARRAY = { ...generateContent, streamForm: "json_array" as const };
const ENCODE: EncodeContext = { ...ENCODE_CONTEXT, model: "asked/for" };
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);
const frame = (fields: object): string =>
  `data: ${JSON.stringify(fields)}\r\n\r\n`;
const FIRST = { candidates: [{ content: { parts: [{ text: "a" }] } }] };
const LAST = { candidates: [{ finishReason: "STOP" }], modelVersion: "up" };

Deno.test("an array has an element for each frame, wherever the stream is cut", () => {
  const stream = bytes(frame(FIRST) + frame(LAST));
  for (let size = 1; size <= stream.length; size++) {
    const relay = streamRelay(ARRAY, generateContent, PLAIN_CONTEXT, ENCODE);
    let out = text(relay.ping());
    for (let at = 0; at < stream.length; at += size) {
      out += text(relay.push(stream.subarray(at, at + size)));
      out += text(relay.ping());
    }
    out += text(relay.end()) + text(relay.end());
    assert.deepEqual(JSON.parse(out), [FIRST, {
      ...LAST,
      modelVersion: "asked/for",
    }]);
    assert.equal(text(relay.ping()), "");
  }
});

Deno.test("an array that fails ends with the error", () => {
  for (const stream of ["", frame(FIRST)]) {
    for (const isCut of [true, false]) {
      const relay = streamRelay(ARRAY, generateContent, PLAIN_CONTEXT, ENCODE);
      const out = text(relay.push(bytes(stream))) +
        text(isCut ? relay.end() : relay.fail(new ApiError("timeout", "late")));
      const elements: { error?: { status: string } }[] = JSON.parse(out);
      assert.equal(elements.length, stream === "" ? 1 : 2);
      assert.equal(
        elements.at(-1)?.error?.status,
        isCut ? "INTERNAL" : "DEADLINE_EXCEEDED",
      );
    }
  }
});

Deno.test("a whole reply becomes an array", () => {
  const reply = {
    type: "message",
    content: [{ type: "text", text: "a" }],
    stop_reason: "end_turn",
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const { body } = atOnce(streamOfWhole(
    ARRAY,
    messages,
    PLAIN_CONTEXT,
    ENCODE,
    bytes(JSON.stringify(reply)),
  ));
  const elements: { candidates: { finishReason?: string }[] }[] = JSON.parse(
    text(body),
  );
  assert.deepEqual(
    elements.map(({ candidates }) => candidates[0]?.finishReason),
    [undefined, "STOP"],
  );
});
