import assert from "node:assert/strict";
import { compact } from "../../bytes/compact.ts";
import { DEFAULT_CAPABILITIES } from "../../model/capabilities.ts";
import { cleanRequest } from "./clean_request.ts";
import { assistant, messagesOf, user } from "../../testing/request_samples.ts";

const REPLAYING = {
  ...DEFAULT_CAPABILITIES.chat_completions,
  replayReasoning: true,
};

const DETAIL = {
  type: "reasoning.text",
  text: "a",
  signature: "S",
  format: "anthropic-claude-v1",
  index: 0,
  position: { content: 0, tool_calls: 0 },
};
const TAGGED = "gw1:generate_content:G";
/** Without the position that only the gateway writes: made by a host that uses the same form. */
const { position: _, ...HOSTS } = DETAIL;
/** The list of all reasoning with which the gateway ends a streamed message. */
const ALL = { gateway: { reasoning_details: [DETAIL, DETAIL] } };
const FOREIGN = { type: "reasoning.encrypted", data: "x", format: "openai" };

function call(extra?: unknown) {
  return {
    id: "a",
    type: "function",
    function: { name: "f", arguments: "{}" },
    ...compact({ extra_content: extra }),
  };
}

Deno.test("cleanRequest() does not change a request without foreign signatures", async (t) => {
  const rows: [string, Record<string, unknown>][] = [
    ["no messages", {}],
    ["messages of another kind", { messages: "x" }],
    ["plain", messagesOf(user("x"), null, 5)],
    [
      "other vendors' details",
      messagesOf({ role: "assistant", reasoning_details: [FOREIGN] }),
    ],
    [
      "a host's own details in the same format",
      messagesOf({
        role: "assistant",
        reasoning: "a",
        reasoning_details: [HOSTS, { ...HOSTS, position: 1 }],
      }),
    ],
    [
      "a user's field",
      messagesOf({ role: "user", reasoning_details: [DETAIL] }),
    ],
    [
      "other extra content",
      messagesOf({
        role: "assistant",
        reasoning_content: "a",
        tool_calls: [
          call({ google: { other: 1 } }),
          call({ google: { thought_signature: "a host's own" } }),
        ],
      }),
    ],
  ];
  for (const [name, body] of rows) {
    await t.step(
      name,
      () => assert.equal(cleanRequest(body, REPLAYING), undefined),
    );
  }
});

Deno.test("cleanRequest() removes the signatures that the gateway added and nothing else", () => {
  const user = { role: "user", content: "x" };
  const body = {
    model: "m",
    messages: [
      user,
      {
        role: "assistant",
        content: "y",
        reasoning_content: "a",
        reasoning_details: [DETAIL, FOREIGN, HOSTS],
        extra_content: { ...ALL, vendor: 2 },
        tool_calls: [
          call({ google: { thought_signature: TAGGED } }),
          call({ google: { thought_signature: TAGGED, other: 1 }, vendor: 2 }),
          call(),
        ],
      },
      { role: "assistant", content: "z", reasoning_details: [DETAIL] },
      { role: "assistant", content: "z", extra_content: ALL },
    ],
    strange: { kept: true },
  };
  const before = structuredClone(body);
  const clean = cleanRequest(body, REPLAYING);
  const marked = {
    role: "assistant",
    content: "y",
    reasoning_details: [FOREIGN, HOSTS],
    extra_content: { vendor: 2 },
    tool_calls: [
      call(),
      call({ vendor: 2, google: { other: 1 } }),
      call(),
    ],
  };
  const plain = assistant("z");
  assert.deepEqual(clean, {
    fields: messagesOf(
      user,
      { ...marked, reasoning_content: "a" },
      plain,
      plain,
    ),
    removed: [],
  });
  assert.deepEqual(body, before);
  assert.equal(
    cleanRequest({ ...body, ...clean?.fields }, REPLAYING),
    undefined,
  );
  assert.deepEqual(
    cleanRequest(body, DEFAULT_CAPABILITIES.chat_completions),
    { fields: messagesOf(user, marked, plain, plain), removed: [] },
    "thoughts go with the marks beside them where the model wants none back",
  );
});

Deno.test("cleanRequest() keeps reasoning without a gateway signature", () => {
  const body = messagesOf(
    { role: "user", content: "x", reasoning_content: "kept" },
    { role: "assistant", content: "y", reasoning_content: "a" },
    { role: "assistant", content: "y", reasoning: "a" },
    { role: "assistant", content: "y", reasoning_details: [FOREIGN] },
  );
  assert.equal(
    cleanRequest(body, DEFAULT_CAPABILITIES.chat_completions),
    undefined,
  );
  assert.equal(cleanRequest(body, REPLAYING), undefined);
});

Deno.test("cleanRequest() reports reasoning that it removes because the model refuses it", () => {
  const user = { role: "user", content: "x", reasoning_content: "kept" };
  const refusing = {
    ...DEFAULT_CAPABILITIES.chat_completions,
    takesReasoning: false,
  };
  const body = messagesOf(user, {
    role: "assistant",
    content: "y",
    reasoning_content: "a",
  }, { role: "assistant", content: "z", reasoning_content: "b" });
  assert.deepEqual(cleanRequest(body, refusing), {
    fields: messagesOf(user, assistant("y"), assistant("z")),
    removed: ["messages[].reasoning_content"],
  });
  const marked = {
    role: "assistant",
    content: "y",
    reasoning_content: "a",
    reasoning_details: [DETAIL],
  };
  assert.deepEqual(cleanRequest(messagesOf(marked), refusing), {
    fields: messagesOf(assistant("y")),
    removed: [],
  });
});
