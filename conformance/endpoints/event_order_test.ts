import assert from "node:assert/strict";
import { witnessFrames } from "../evidence/event_stream.ts";
import { WRITTEN } from "@model-gateway/replay/fixtures";
import { splitStream, streamedBlocks } from "./event_order.ts";

const encoder = new TextEncoder();

function walkOf(text: string): ReturnType<typeof splitStream> {
  return splitStream({ frames: witnessFrames(encoder.encode(text)) });
}

function event(data: Readonly<Record<string, unknown>>): string {
  return `event: ${data["type"]}\ndata: ${JSON.stringify(data)}\n\n`;
}

Deno.test("the streams of a vendor keep the order of events", () => {
  for (const [name, { replies }] of WRITTEN) {
    const { faults } = walkOf(replies.messages.stream.join(""));
    assert.deepEqual(faults.map(({ expected }) => expected), [], name);
  }
});

Deno.test("a stream that ends in an error needs no other end", () => {
  const { faults, errors } = walkOf(
    event({ type: "message_start" }) + event({ type: "error" }),
  );
  assert.equal(errors.length, 1);
  assert.deepEqual(faults, []);
});

Deno.test("each event out of order breaks the rule about it", () => {
  const open = {
    type: "content_block_start",
    index: 0,
    content_block: { type: "text", text: "" },
  };
  const end = { type: "message_delta", delta: { stop_reason: "end_turn" } };
  const cases: readonly (readonly [string, ...Record<string, unknown>[]])[] = [
    ["start", { type: "ping" }, { type: "message_start" }],
    ["index", { type: "message_start" }, { ...open, index: 1 }],
    ["in-block", { type: "message_start" }, {
      type: "content_block_stop",
      index: 0,
    }],
    ["overlap", { type: "message_start" }, open, end],
    ["kind", { type: "message_start" }, open, {
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: "" },
    }],
    ["delta", { type: "message_start" }, end, open],
    ["stop", { type: "message_start" }, end, { type: "message_stop" }, {
      type: "ping",
    }],
  ];
  for (const [rule, ...events] of cases) {
    const { faults } = walkOf(events.map(event).join(""));
    assert.ok(faults.some((fault) => fault.rule === rule), rule);
  }
});

Deno.test("the blocks of a stream are those of the whole reply", () => {
  const frames = [
    { type: "message_start" },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "t", name: "n", input: {} },
    },
    ...['{"a"', ":1}"].map((partial_json) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json },
    })),
  ].map(event).join("");
  assert.deepEqual(
    streamedBlocks({ frames: witnessFrames(encoder.encode(frames)) }),
    [{ type: "tool_use", id: "t", name: "n", input: { a: 1 } }],
  );
});
