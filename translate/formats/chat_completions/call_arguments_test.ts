/** Arguments of calls that hosts send in other pieces than the format's. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../bytes/json.ts";
import { PLAIN_CONTEXT } from "../../dialect.ts";
import { foldReply } from "../../model/reply.ts";
import { callArguments } from "./call_arguments.ts";
import { streamDecoder } from "./decode_stream.ts";

const NAMED = { id: "call_1", type: "function" };
type Piece = JsonObject | string;

/** The calls of a stream with these pieces; a text is a piece of the arguments alone. */
function callsOf(
  pieces: readonly Piece[],
): readonly (readonly [string, string])[] {
  const decoder = streamDecoder(PLAIN_CONTEXT);
  const push = (delta: JsonObject, finish: string | null = null) =>
    decoder.push({
      data: JSON.stringify({
        id: "c",
        choices: [{ index: 0, delta, finish_reason: finish }],
      }),
    });
  const events = [
    ...push({
      tool_calls: [{
        index: 0,
        ...NAMED,
        function: { name: "exec", arguments: "" },
      }],
    }),
    ...pieces.flatMap((piece) =>
      push({
        tool_calls: [
          typeof piece === "string"
            ? { index: 0, function: { arguments: piece } }
            : { index: 0, ...piece },
        ],
      })
    ),
    ...push({}, "tool_calls"),
    ...decoder.end(),
  ];
  return foldReply(events).blocks.map((block) => {
    assert.ok(block.kind === "tool");
    return [block.name, block.text];
  });
}

const whole = (value: unknown): JsonObject => ({
  ...NAMED,
  function: { name: "exec", arguments: value },
});

const ROWS: Readonly<Record<string, readonly Piece[]>> = {
  "deltas": ['{"cmd":', '"ls ', '-la"}'],
  "cumulative pieces": [
    '{"cmd":',
    '{"cmd":"ls -',
    '{"cmd":"ls -la"}',
    '{"cmd":"ls -la"}',
  ],
  "the finished call once more, with id and name": [
    '{"cmd":"ls ',
    '-la"}',
    whole('{"cmd":"ls -la"}'),
  ],
  "the finished call once more, in another spelling": [
    '{"cmd":"ls -la"}',
    whole('{ "cmd": "ls -la" }'),
  ],
  "a piece that is repeated": ['{"cmd":', '{"cmd":', '"ls -la"}'],
  "an object": [whole({ cmd: "ls -la" })],
  "two objects": [whole({ cmd: "ls -la" }), whole({ cmd: "ls -la" })],
  "objects that grow": [
    whole({}),
    whole({ cmd: "ls" }),
    whole({ cmd: "ls -la" }),
  ],
  "an empty object first": ["{}", '{"cmd":', '"ls -la"}'],
  "an empty object last": ['{"cmd":', '"ls -la"}', "{}"],
  "blanks after the end": ['{"cmd":"ls -la"}', "\n", " "],
};

for (const [name, pieces] of Object.entries(ROWS)) {
  Deno.test(`a call's arguments are one document: ${name}`, () => {
    assert.deepEqual(callsOf(pieces), [["exec", '{"cmd":"ls -la"}']]);
  });
}

Deno.test("a call without arguments stays one", () => {
  assert.deepEqual(callsOf(["{}"]), [["exec", "{}"]]);
  assert.deepEqual(callsOf([]), [["exec", ""]]);
});

Deno.test("nested objects that begin as the whole does are deltas", () => {
  assert.deepEqual(callsOf(['{"a":', '{"a":1}}']), [["exec", '{"a":{"a":1}}']]);
});

Deno.test("callArguments() emits only what is new", () => {
  const args = callArguments();
  assert.equal(args.add('{"a":'), '{"a":');
  assert.equal(args.add('{"a":1'), "1");
  assert.equal(args.isComplete(), false);
  assert.equal(args.add("}"), "}");
  assert.equal(args.isComplete(), true);
  assert.equal(args.add('{"a":1}'), "");
  assert.equal(args.end(), "");
});
