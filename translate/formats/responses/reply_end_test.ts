import assert from "node:assert/strict";
import fc from "fast-check";
import { atOnce } from "../../steps.ts";
import { streamEnd, wholeEnd } from "./reply_end.ts";

const ENCODER = new TextEncoder();
const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

const REPLY = {
  id: "resp_1",
  status: "completed",
  store: true,
  output: [{ id: "msg_1", text: "a\n\nb" }, { id: "msg_1" }, { type: "x" }],
};

function frame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

Deno.test("the end of a whole reply is the reply", () => {
  const bytes = ENCODER.encode(JSON.stringify(REPLY));
  const end = atOnce(wholeEnd(bytes));
  assert.ok(end !== undefined);
  assert.equal(end.id, "resp_1");
  assert.deepEqual(JSON.parse(end.reply), REPLY);
  assert.deepEqual(end.itemIds, ["msg_1"]);
  assert.deepEqual(JSON.parse(textOf(end.unstored())), {
    ...REPLY,
    store: false,
  });
});

Deno.test("the end of a stream is found behind any frames, with any line ends", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme" })),
      fc.constantFrom("\n", "\r\n", "\r"),
      fc.constantFrom("completed", "incomplete", "done"),
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(0, 1, 2),
      (deltas, lineEnd, ending, text, missing) => {
        const reply = { ...REPLY, output: [{ id: "msg_1", text }] };
        const before = deltas.map((delta, sequence_number) =>
          frame("response.output_text.delta", { delta, sequence_number })
        ).join("");
        const last = frame(`response.${ending}`, {
          response: reply,
          sequence_number: deltas.length,
        });
        const withEnds = (frames: string): string =>
          frames.replaceAll("\n", lineEnd);
        const whole = withEnds(before + last);
        const cut = whole.slice(0, whole.length - missing * lineEnd.length);
        const end = streamEnd(ENCODER.encode(cut));
        assert.deepEqual(JSON.parse(end?.reply ?? ""), reply);
        const unstored = textOf(end?.unstored() ?? new Uint8Array());
        assert.equal(
          unstored,
          withEnds(before) + last.replace('"store":true', '"store":false'),
        );
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("numbers beyond a double's precision keep their digits", () => {
  const text = JSON.stringify(REPLY).replace('"x"', "12345678901234567890");
  const end = atOnce(wholeEnd(ENCODER.encode(text)));
  assert.equal(end?.reply, text);
  assert.match(textOf(end?.unstored() ?? new Uint8Array()), /890/);
});

Deno.test("a reply that cannot be continued has no end to store", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["", true],
    ["", false],
    ["[]", false],
    ['{"id":"resp_1"}', false],
    [JSON.stringify({ ...REPLY, status: "failed" }), false],
    [JSON.stringify({ ...REPLY, id: "" }), false],
    [frame("response.failed", { response: REPLY }), true],
    [frame("response.completed", {}), true],
    [frame("response.completed", { response: REPLY }) + frame("x", {}), true],
    [
      frame("response.completed", {
        response: JSON.parse(
          `{"id":"resp_1","output":${"[".repeat(3_000)}${"]".repeat(3_000)}}`,
        ),
      }),
      true,
    ],
  ];
  for (const [text, isStream] of rows) {
    assert.equal(
      isStream
        ? streamEnd(ENCODER.encode(text))
        : atOnce(wholeEnd(ENCODER.encode(text))),
      undefined,
      text.slice(0, 80),
    );
  }
});

Deno.test("the end of a long whole reply is found in steps", () => {
  const output = [{ id: "msg_1", text: "é\\".repeat(500_000) }];
  const text = JSON.stringify({ ...REPLY, output, n: 0 })
    .replace('"n":0', '"n":12345678901234567890');
  const steps = wholeEnd(ENCODER.encode(text));
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count++;
  assert.ok(count > 10, `${count} steps`);
  assert.equal(step.value?.reply, text);
  assert.deepEqual(step.value?.itemIds, ["msg_1"]);
});
