import assert from "node:assert/strict";
import { ApiError } from "../../model/error.ts";
import type { StoredTurn } from "../../model/stored_state.ts";
import { state } from "./state.ts";
import { inputOf, outputItem, user } from "../../testing/request_samples.ts";

const ANSWER = { id: "msg_a", type: "message", role: "assistant", content: [] };
const TURNS: readonly StoredTurn[] = [
  {
    id: "resp_1",
    input: [user("one")],
    reply: JSON.stringify({ id: "resp_1", output: [ANSWER] }),
  },
  {
    id: "resp_2",
    input: [
      { type: "item_reference", id: "msg_a" },
      outputItem("c", "x"),
    ],
    reply: JSON.stringify({ id: "resp_2", output: [{ type: "reasoning" }] }),
  },
];
const FOUND = new Map([["msg_a", ANSWER]]);

Deno.test("asked() reads what a request wants of stored replies", () => {
  const nothing = { store: true, references: [] };
  assert.deepEqual(state.asked({ input: "Hi" }), nothing);
  assert.deepEqual(state.asked({ store: null, input: [] }), nothing);
  assert.deepEqual(
    state.asked({ previous_response_id: null, store: false }),
    { store: false, references: [] },
  );
  assert.deepEqual(
    state.asked({
      previous_response_id: "resp_1",
      input: [
        user("Hi"),
        { type: "item_reference", id: "msg_a" },
        { id: "msg_b" },
        { id: "msg_c", role: "user", content: "with an id" },
        "no item",
      ],
    }),
    {
      store: true,
      previousId: "resp_1",
      references: [
        { path: "input[1]", id: "msg_a" },
        { path: "input[2]", id: "msg_b" },
      ],
    },
  );
});

Deno.test("asked() refuses what stored replies cannot serve, by name", () => {
  const rows: readonly (readonly [string, object])[] = [
    ["background", { background: true }],
    ["conversation", { conversation: {}, previous_response_id: "resp_1" }],
    ["prompt", { prompt: { id: "p" } }],
    ["input[0].id", inputOf({ type: "item_reference", id: 5 })],
  ];
  for (const [param, body] of rows) {
    assert.throws(
      () => state.asked({ ...body }),
      (error) => error instanceof ApiError && error.details.param === param,
    );
  }
});

Deno.test("resolved() puts the conversation before the input and replaces references", () => {
  assert.deepEqual(state.references(TURNS), [{
    path: "input[0]",
    id: "msg_a",
  }]);
  const history = state.history(TURNS, FOUND);
  assert.deepEqual(history, [
    user("one"),
    ANSWER,
    ANSWER,
    outputItem("c", "x"),
    { type: "reasoning" },
  ]);
  assert.deepEqual(
    state.resolved(
      { input: "two", previous_response_id: "resp_2" },
      history,
      FOUND,
    ),
    {
      input: [...history, user("two")],
      previous_response_id: null,
    },
  );
  assert.deepEqual(
    state.resolved(inputOf({ id: "msg_a" }), [], FOUND),
    inputOf(ANSWER),
  );
});

Deno.test("listedItems() gives every item an id, a type and parts", () => {
  const listed = state.listedItems(TURNS, FOUND);
  assert.deepEqual(listed.map((item) => [item["type"], item["id"]]), [
    ["message", "msg_1i0"],
    ["message", "msg_a"],
    ["message", "msg_a"],
    ["function_call_output", "fco_2i1"],
  ]);
  assert.deepEqual(listed[0], {
    role: "user",
    content: [{ type: "input_text", text: "one" }],
    id: "msg_1i0",
    type: "message",
    status: "completed",
  });
  assert.deepEqual(state.listedItems([], FOUND), []);
});

Deno.test("outputItems() finds items of a reply by id", () => {
  const [turn] = TURNS;
  assert.ok(turn !== undefined);
  assert.deepEqual(
    state.outputItems(turn.reply, new Set(["msg_a", "msg_b"])),
    [["msg_a", ANSWER]],
  );
  assert.deepEqual(
    state.outputItems("no JSON", new Set(["msg_a"])),
    [],
  );
});
