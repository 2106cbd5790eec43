import assert from "node:assert/strict";
import { DEFAULT_CAPABILITIES } from "../capabilities.ts";
import { cleanRequest } from "./clean_request.ts";

const REPLAYING = {
  ...DEFAULT_CAPABILITIES.chat_completions,
  replayReasoning: true,
};

const DETAIL = {
  type: "reasoning.text",
  text: "a",
  signature: "S",
  format: "anthropic-claude-v1",
};
const FOREIGN = { type: "reasoning.encrypted", data: "x", format: "openai" };

function call(extra?: unknown) {
  return {
    id: "a",
    type: "function",
    function: { name: "f", arguments: "{}" },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

Deno.test("cleanRequest() leaves alone what holds no carrier", async (t) => {
  const rows: [string, Record<string, unknown>][] = [
    ["no messages", {}],
    ["messages of another kind", { messages: "x" }],
    ["plain", { messages: [{ role: "user", content: "x" }, null, 5] }],
    ["other vendors' details", {
      messages: [{ role: "assistant", reasoning_details: [FOREIGN] }],
    }],
    ["a user's field", {
      messages: [{ role: "user", reasoning_details: [DETAIL] }],
    }],
    ["other extra content", {
      messages: [{
        role: "assistant",
        tool_calls: [call({ google: { other: 1 } }), call()],
      }],
    }],
  ];
  for (const [name, body] of rows) {
    await t.step(
      name,
      () => assert.equal(cleanRequest(body, REPLAYING), undefined),
    );
  }
});

// Trap 145.
Deno.test("cleanRequest() takes out signatures of other dialects and nothing else", () => {
  const user = { role: "user", content: "x" };
  const body = {
    model: "m",
    messages: [
      user,
      {
        role: "assistant",
        content: "y",
        reasoning_content: "a",
        reasoning_details: [DETAIL, FOREIGN],
        tool_calls: [
          call({ google: { thought_signature: "G" } }),
          call({ google: { thought_signature: "G", other: 1 }, vendor: 2 }),
          call(),
        ],
      },
      { role: "assistant", content: "z", reasoning_details: [DETAIL] },
    ],
    strange: { kept: true },
  };
  const before = structuredClone(body);
  const clean = cleanRequest(body, REPLAYING);
  assert.deepEqual(clean, {
    model: "m",
    messages: [
      user,
      {
        role: "assistant",
        content: "y",
        reasoning_content: "a",
        reasoning_details: [FOREIGN],
        tool_calls: [
          call(),
          call({ vendor: 2, google: { other: 1 } }),
          call(),
        ],
      },
      { role: "assistant", content: "z" },
    ],
    strange: { kept: true },
  });
  assert.deepEqual(body, before);
  assert.equal(cleanRequest(clean ?? {}, REPLAYING), undefined);
});

Deno.test("cleanRequest() takes out the assistant's thoughts where the model wants none back", () => {
  const thought = { role: "assistant", content: "y", reasoning_content: "a" };
  const told = { role: "user", content: "x", reasoning_content: "kept" };
  const body = { messages: [told, thought] };
  assert.deepEqual(
    cleanRequest(body, DEFAULT_CAPABILITIES.chat_completions),
    { messages: [told, { role: "assistant", content: "y" }] },
  );
  assert.equal(cleanRequest(body, REPLAYING), undefined);
});
