import assert from "node:assert/strict";
import { cleanRequest } from "./clean_request.ts";
import { ADAPTIVE, BUDGET } from "./sample_models.ts";
import {
  assistant,
  messagesOf,
  text,
  toolResult,
  toolUse,
  user,
} from "../../testing/request_samples.ts";

Deno.test("cleanRequest() changes nothing from this dialect's own upstreams", () => {
  for (
    const body of [
      {},
      { messages: "x" },
      messagesOf(null, user("x")),
      messagesOf(
        assistant({ type: "thinking", thinking: "", signature: "S" }, {
          type: "redacted_thinking",
          data: "R",
        }, toolUse("a")),
      ),
    ]
  ) assert.equal(cleanRequest(body, BUDGET), undefined);
});

Deno.test("cleanRequest() removes searches that the gateway wrote, and no others", () => {
  const search = (id: string) => [
    { type: "server_tool_use", id, name: "web_search", input: {} },
    { type: "web_search_tool_result", tool_use_id: id, content: [] },
  ];
  const vendor = search("srvtoolu_01");
  assert.deepEqual(
    cleanRequest(
      messagesOf(
        assistant(...search("srvtoolu_gateway_a"), ...vendor, text("x")),
      ),
      BUDGET,
    ),
    { fields: messagesOf(assistant(...vendor, text("x"))), removed: [] },
  );
  assert.equal(
    cleanRequest(messagesOf(assistant(...vendor)), BUDGET),
    undefined,
  );
});

Deno.test("cleanRequest() removes only other dialects' signatures and unsigned reasoning", () => {
  const kept = user({ type: "text", text: "a", x: 1 });
  const body = {
    model: "m",
    unknown: { y: 1 },
    messages: [
      kept,
      {
        role: "assistant",
        extra: 1,
        content: [
          { type: "thinking", thinking: "hm", signature: "" },
          { type: "thinking", thinking: "hm" },
          { type: "thinking", thinking: "", signature: "S" },
          {
            type: "tool_use",
            id: "a",
            name: "f",
            input: { extra_content: 1 },
            extra_content: { google: { thought_signature: "G" } },
          },
          {
            type: "tool_use",
            id: "b",
            name: "f",
            input: {},
            extra_content: {
              google: { thought_signature: "G", other: 1 },
              vendor: 2,
            },
          },
          {
            type: "tool_use",
            id: "c",
            name: "f",
            input: {},
            extra_content: { vendor: 2 },
          },
        ],
      },
      assistant({ type: "thinking", thinking: "hm", signature: null }),
    ],
  };
  const before = structuredClone(body);
  const cleaned = cleanRequest(body, BUDGET);
  assert.deepEqual(cleaned, {
    fields: messagesOf(kept, {
      role: "assistant",
      extra: 1,
      content: [
        { type: "thinking", thinking: "", signature: "S" },
        toolUse("a", "f", { extra_content: 1 }),
        {
          type: "tool_use",
          id: "b",
          name: "f",
          input: {},
          extra_content: { vendor: 2, google: { other: 1 } },
        },
        {
          type: "tool_use",
          id: "c",
          name: "f",
          input: {},
          extra_content: { vendor: 2 },
        },
      ],
    }),
    removed: ["messages[].content[].thinking"],
  });
  assert.deepEqual(body, before, "the client's body was written to");
});

Deno.test("cleanRequest() names reasoning without a signature only where the gateway did not mark it", () => {
  const turn = (block: Record<string, unknown>) =>
    messagesOf(assistant(text("a"), {
      type: "thinking",
      thinking: "hm",
      ...block,
    }));
  const left = [assistant(text("a"))];
  assert.deepEqual(cleanRequest(turn({ signature: "" }), BUDGET), {
    fields: { messages: left },
    removed: [],
  });
  for (const block of [{}, { signature: null }]) {
    assert.deepEqual(cleanRequest(turn(block), BUDGET), {
      fields: { messages: left },
      removed: ["messages[].content[].thinking"],
    });
  }
});

Deno.test("cleanRequest() gives calls that repeat an id one each, and their results alike", () => {
  const turns = (...ids: readonly string[]) => ({
    messages: ids.flatMap((id) => [
      assistant(toolUse(id)),
      user(toolResult(id, "r"), text("a")),
    ]),
  });
  assert.equal(
    cleanRequest(turns("call_0", "functions.f:1"), BUDGET),
    undefined,
  );
  assert.deepEqual(cleanRequest(turns("call_0", "b", "call_0"), BUDGET), {
    fields: turns("call_0", "b", "call_0_1"),
    removed: [],
  });
});

Deno.test("cleanRequest() replaces the kind of thinking that the model does not take", () => {
  const budget = { ...BUDGET, thinkingKinds: "budget" } as const;
  const rows = [
    ["high", 32_000, { type: "enabled", budget_tokens: 16_384 }],
    ["low", 32_000, { type: "enabled", budget_tokens: 2_048 }],
    [undefined, 2_048, { type: "enabled", budget_tokens: 1_024 }],
    ["high", 1_000, { type: "disabled" }],
  ] as const;
  for (const [effort, max_tokens, thinking] of rows) {
    const body = {
      max_tokens,
      thinking: { type: "adaptive" },
      ...(effort === undefined ? {} : { output_config: { effort } }),
      messages: [user("x")],
    };
    assert.deepEqual(cleanRequest(body, budget), {
      fields: { thinking },
      removed: thinking.type === "disabled" ? ["thinking"] : [],
    });
    assert.equal(cleanRequest(body, BUDGET), undefined);
  }
  const manual = {
    max_tokens: 32_000,
    thinking: { type: "enabled", budget_tokens: 20_000 },
    messages: [user("x")],
  };
  assert.equal(cleanRequest(manual, ADAPTIVE), undefined);
  assert.deepEqual(
    cleanRequest(manual, { ...ADAPTIVE, thinkingKinds: "adaptive" }),
    {
      fields: {
        thinking: { type: "adaptive" },
        output_config: { effort: "high" },
      },
      removed: ["thinking.budget_tokens"],
    },
  );
});
