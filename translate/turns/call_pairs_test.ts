import assert from "node:assert/strict";
import { pairedTurns } from "./call_pairs.ts";
import { chatCompletions } from "../formats/chat_completions/mod.ts";
import { DEFAULT_CAPABILITIES } from "../model/capabilities.ts";
import type { Dialect } from "../dialect.ts";
import { upstreamDialect } from "../dialects.ts";
import { ApiError } from "../model/error.ts";
import type { JsonObject } from "../bytes/json.ts";
import { topLevelOf } from "../bytes/json_splice.ts";
import { messages } from "../formats/messages/mod.ts";
import { upstreamRequest } from "../upstream_request.ts";
import type { DialectName, Part, Turn } from "../model/request.ts";
import { turn } from "../testing/sample_request.ts";
import { responses } from "../formats/responses/mod.ts";
import {
  calling,
  callItem,
  chatCall,
  outputItem,
  text,
  toolMessage,
  toolResult,
  toolUse,
} from "../testing/request_samples.ts";
import { atOnce } from "../steps.ts";
const call = (id: string): Part => ({
  type: "tool_call",
  id,
  name: "f",
  arguments: "{}",
  at: `call ${id}`,
});
const result = (id: string, at = `result ${id}`): Part => ({
  type: "tool_result",
  id,
  content: [],
  at,
});
const user = (...parts: Part[]): Turn => turn("user", ...parts);
const assistant = (...parts: Part[]): Turn => turn("assistant", ...parts);

/** Turns in short form: `a` assistant, `u` user, `s` system; calls as `+id`, results as `-id`. */
function brief(turns: readonly Turn[]): string {
  return turns.map(({ role, parts }) =>
    `${role[0]}(${
      parts.map((part) =>
        part.type === "tool_call"
          ? `+${part.id}`
          : part.type === "tool_result"
          ? `-${part.id}`
          : part.type === "text"
          ? part.text
          : part.type
      ).join(" ")
    })`
  ).join(" ");
}

Deno.test("pairedTurns() leaves turns unchanged that encoders arrange themselves", async (t) => {
  const rows: readonly (readonly Turn[])[] = [
    [user(text("hi"))],
    [assistant(call("1"), call("2")), user(result("2"), result("1"))],
    [assistant(call("1"), call("2")), user(result("2")), user(result("1"))],
    [assistant(call("1")), user(text("wait")), user(result("1"))],
    [
      assistant(call("1")),
      turn("system", text("s")),
      user(text("x"), result("1")),
      assistant(text("so")),
    ],
    // One id for every call, as some upstreams send it.
    [
      assistant(call("1")),
      user(result("1")),
      assistant(call("1")),
      user(result("1")),
    ],
    [assistant(call("1"), call("1")), user(result("1"), result("1"))],
  ];
  for (const turns of rows) {
    await t.step(brief(turns), () => assert.equal(pairedTurns(turns), turns));
  }
});

Deno.test("pairedTurns() repairs the order", async (t) => {
  const rows: readonly (readonly [readonly Turn[], string])[] = [
    [
      [assistant(call("1")), assistant(text("so")), user(result("1"))],
      "a(+1) u(-1) a(so)",
    ],
    [
      [
        assistant(call("1")),
        user(text("hi")),
        assistant(text("so")),
        user(result("1"), text("there")),
      ],
      "a(+1) u(-1) u(hi) a(so) u(there)",
    ],
    [
      [
        assistant(call("1")),
        assistant(call("2")),
        user(result("1"), result("2")),
      ],
      "a(+1 +2) u(-1 -2)",
    ],
    [
      [
        assistant(text("x"), call("1")),
        assistant(call("2")),
        assistant(call("3")),
        user(result("3")),
        user(result("1")),
        assistant(text("so")),
        user(result("2")),
      ],
      "a(x +1 +2 +3) u(-2) u(-3) u(-1) a(so)",
    ],
    [[user(result("1")), assistant(call("1"))], "a(+1) u(-1)"],
    [
      [
        user(text("hi"), result("1")),
        assistant(call("1")),
        user(text("go")),
      ],
      "u(hi) a(+1) u(-1) u(go)",
    ],
    [
      [
        assistant(call("1")),
        user(result("1")),
        assistant(call("1")),
        assistant(text("so")),
        user(result("1")),
      ],
      "a(+1) u(-1) a(+1) u(-1) a(so)",
    ],
  ];
  for (const [turns, wanted] of rows) {
    await t.step(brief(turns), () => {
      const before = structuredClone(turns);
      const paired = pairedTurns(turns);
      assert.equal(brief(paired), wanted);
      assert.equal(pairedTurns(paired), paired, "once is enough");
      assert.deepEqual(turns, before, "the client's turns stay as they are");
    });
  }
});

Deno.test("pairedTurns() names calls and results without a counterpart", async (t) => {
  const rows: readonly (readonly [readonly Turn[], string, RegExp])[] = [
    [[user(result("1"))], "result 1", /answers no call.*"1"/],
    [
      [assistant(call("1")), user(result("1"), result("2"))],
      "result 2",
      /answers no call/,
    ],
    [
      [assistant(call("1")), user(result("1")), user(result("1", "again"))],
      "again",
      /a second time; its result is result 1/,
    ],
    [[user(text("hi")), assistant(call("1"))], "call 1", /has no result/],
    [
      [
        assistant(call("1"), call("2")),
        user(result("2")),
        assistant(text("so")),
      ],
      "call 1",
      /has no result/,
    ],
    [
      [
        assistant(call("1")),
        user(text("hi")),
        assistant({ ...call("1"), at: "second" } as Part),
        user(result("1")),
      ],
      "call 1",
      /has no result/,
    ],
  ];
  for (const [turns, param, message] of rows) {
    await t.step(brief(turns), () => {
      assert.throws(() => pairedTurns(turns), (error) => {
        assert.ok(error instanceof ApiError);
        assert.equal(error.kind, "invalid_request");
        assert.equal(error.details.param, param);
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

Deno.test("pairedTurns() does not check the result of a call that only its own dialect has", () => {
  const turns = [
    assistant({
      type: "opaque",
      from: "chat_completions",
      kind: "custom",
      path: "messages[0].tool_calls[0]",
      value: { id: "1", type: "custom" },
      essential: true,
    }),
    user(result("1")),
  ];
  assert.equal(pairedTurns(turns), turns);
});

function written(
  dialect: Dialect,
  upstream: DialectName,
  history: readonly unknown[],
): JsonObject {
  const body = dialect === responses
    ? { model: "m", store: false, input: history }
    : { model: "m", max_tokens: 9, messages: history };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return JSON.parse(
    new TextDecoder().decode(
      upstreamRequest(
        {
          dialect,
          bytes,
          body,
          top: topLevelOf(bytes),
          request: atOnce(dialect.decodeRequest(body)),
        },
        upstreamDialect(upstream),
        "u",
        DEFAULT_CAPABILITIES[upstream],
      ).bytes,
    ),
  );
}

const HI = { role: "user", content: "hi" };
const OWN_CALL = {
  role: "assistant",
  content: [toolUse("a")],
};
const ownResult = (id: string) => ({
  role: "user",
  content: [toolResult(id, "1")],
});
const CHAT_CALL = calling(null, chatCall("a"));
const chatResult = (id: string) => toolMessage(id, "1");
const OLD_CALL = {
  role: "assistant",
  content: null,
  function_call: { name: "f", arguments: "{}" },
};
const OLD_RESULT = { role: "function", name: "f", content: "1" };

const ITEM_CALL = callItem("a");
const itemResult = (id: string) => outputItem(id, "1");

Deno.test("a broken history is refused by the client's own path, whatever dialect it is translated to", async (t) => {
  const rows: readonly (readonly [Dialect, readonly unknown[], string])[] = [
    [messages, [HI, OWN_CALL, HI], "messages[1].content[0].id"],
    [messages, [HI, OWN_CALL], "messages[1].content[0].id"],
    [messages, [ownResult("a")], "messages[0].content[0].tool_use_id"],
    [
      messages,
      [HI, OWN_CALL, ownResult("a"), ownResult("a")],
      "messages[3].content[0].tool_use_id",
    ],
    [chatCompletions, [HI, CHAT_CALL, HI], "messages[1].tool_calls[0].id"],
    [chatCompletions, [HI, chatResult("a")], "messages[1].tool_call_id"],
    [
      chatCompletions,
      [HI, CHAT_CALL, chatResult("a"), chatResult("a")],
      "messages[3].tool_call_id",
    ],
    [chatCompletions, [HI, OLD_CALL], "messages[1].function_call"],
    [chatCompletions, [HI, OLD_RESULT], "messages[1].name"],
    [
      chatCompletions,
      [HI, OLD_CALL, OLD_RESULT, OLD_RESULT],
      "messages[3].name",
    ],
    [responses, [HI, ITEM_CALL, HI], "input[1].call_id"],
    [responses, [itemResult("a")], "input[0].call_id"],
    [
      responses,
      [HI, ITEM_CALL, itemResult("a"), itemResult("a")],
      "input[3].call_id",
    ],
  ];
  const targets = [
    "messages",
    "chat_completions",
    "generate_content",
    "responses",
  ] as const;
  for (const [dialect, history, param] of rows) {
    for (const upstream of targets) {
      await t.step(`${dialect.name} → ${upstream}: ${param}`, () => {
        if (dialect.name === upstream) {
          // The client's own bytes: the upstream decides.
          const sent = written(dialect, upstream, history);
          assert.deepEqual(sent["messages"] ?? sent["input"], history);
          return;
        }
        assert.throws(() => written(dialect, upstream, history), (error) => {
          assert.ok(error instanceof ApiError);
          assert.equal(error.details.param, param);
          return true;
        });
      });
    }
  }
});

Deno.test("a history in the wrong order is reordered", () => {
  const chat = written(messages, "chat_completions", [
    HI,
    OWN_CALL,
    { role: "assistant", content: "so" },
    ownResult("a"),
  ]);
  assert.deepEqual(
    chat["messages"],
    [
      HI,
      CHAT_CALL,
      chatResult("a"),
      { role: "assistant", content: "so" },
    ],
  );
  const own = written(chatCompletions, "messages", [
    HI,
    CHAT_CALL,
    { role: "assistant", content: "so" },
    chatResult("a"),
  ]);
  const items = written(messages, "responses", [
    HI,
    OWN_CALL,
    { role: "assistant", content: "so" },
    ownResult("a"),
  ]);
  assert.deepEqual(items["input"], [
    {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "hi" }],
    },
    ITEM_CALL,
    itemResult("a"),
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "so" }],
    },
  ]);
  assert.deepEqual(own["messages"], [
    { role: "user", content: [text("hi")] },
    OWN_CALL,
    {
      role: "user",
      content: [toolResult("a", [text("1")])],
    },
    { role: "assistant", content: [text("so")] },
  ]);
});

Deno.test("pairedTurns() pairs very many calls without searching among them", async (t) => {
  const many = Array.from({ length: 50_000 }, (_, n) => `call_${n}`);
  const same = many.map(() => "call_0");
  const results = (ids: readonly string[]): readonly Turn[] =>
    ids.map((id) => user(result(id)));
  const rows: Readonly<Record<string, readonly Turn[]>> = {
    "results in reverse order": [
      assistant(...many.map(call)),
      ...results(many.toReversed()),
    ],
    "one id in every turn": same.flatMap((id) => [
      assistant(call(id)),
      user(result(id)),
    ]),
    "one id in one turn": [assistant(...same.map(call)), ...results(same)],
    "results before their calls": [
      ...results(same),
      assistant(...same.map(call)),
    ],
    "parallel calls in turns of their own": [
      ...many.map((id) => assistant(call(id))),
      ...results(many),
    ],
  };
  for (const [name, turns] of Object.entries(rows)) {
    await t.step(name, () => {
      const parts = (given: readonly Turn[]): readonly Part[] =>
        given.flatMap((turn) => turn.parts);
      const paired = pairedTurns(turns);
      assert.equal(parts(paired).length, parts(turns).length);
      const first = paired.findIndex(({ role }) => role === "assistant");
      assert.ok(
        paired.slice(0, first).every(({ parts }) => parts.length === 0),
      );
    });
  }
});
