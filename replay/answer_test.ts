import assert from "node:assert/strict";
import { answer } from "./answer.ts";
import { compact } from "./compact.ts";
import type { DialectName } from "./parse_request.ts";
import {
  contentOfStream,
  contentOfWhole,
  type ReadContent,
} from "./vendors/content_of.ts";
import { eventsIn } from "./vendors/fold_stream.ts";
import {
  arrayOf,
  type Json,
  type JsonObject,
  objectOf,
  parseJson,
} from "./json.ts";
import type { ReplayRequest } from "./script.ts";

const DIALECTS: readonly DialectName[] = [
  "messages",
  "chat_completions",
  "generate_content",
];

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer", minimum: 2 },
  },
  required: ["city", "days"],
};

/** What a test asks of the reply, in no dialect. */
interface Wants {
  readonly prompt?: string;
  readonly limit?: number;
  readonly stops?: readonly string[];
  readonly tool?: "any" | "named";
  readonly json?: boolean;
}

function bodyOf(
  dialect: DialectName,
  wants: Wants,
  streamed: boolean,
): JsonObject {
  const { prompt = "Count to three, please.", limit, stops, tool, json } =
    wants;
  const names = ["first", "second"];
  if (dialect === "generate_content") {
    const calling = {
      mode: "ANY",
      ...(tool === "named" ? { allowedFunctionNames: ["second"] } : {}),
    };
    return {
      contents: [{ role: "user", parts: [{ text: prompt }] }],
      tools: tool === undefined ? [] : [{
        functionDeclarations: names.map((name) => ({
          name,
          parameters: SCHEMA,
        })),
      }],
      ...(tool === undefined
        ? {}
        : { toolConfig: { functionCallingConfig: calling } }),
      generationConfig: {
        ...compact({ maxOutputTokens: limit, stopSequences: stops }),
        ...(json === undefined
          ? {}
          : { responseMimeType: "application/json", responseSchema: SCHEMA }),
      },
    };
  }
  const shared = {
    model: "m",
    stream: streamed,
    messages: [{ role: "user", content: prompt }],
  };
  if (dialect === "messages") {
    return {
      ...shared,
      max_tokens: limit ?? 1000,
      ...compact({ stop_sequences: stops }),
      ...(json === undefined ? {} : {
        output_config: { format: { type: "json_schema", schema: SCHEMA } },
      }),
      ...(tool === undefined ? {} : {
        tools: names.map((name) => ({ name, input_schema: SCHEMA })),
        tool_choice: tool === "any"
          ? { type: "any" }
          : { type: "tool", name: "second" },
      }),
    };
  }
  return {
    ...shared,
    ...compact({ max_completion_tokens: limit, stop: stops }),
    ...(streamed ? { stream_options: { include_usage: true } } : {}),
    ...(json === undefined ? {} : {
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", schema: SCHEMA },
      },
    }),
    ...(tool === undefined ? {} : {
      tools: names.map((name) => ({
        type: "function",
        function: { name, parameters: SCHEMA },
      })),
      tool_choice: tool === "any"
        ? "required"
        : { type: "function", function: { name: "second" } },
    }),
  };
}

function requestOf(
  dialect: DialectName,
  wants: Wants,
  streamed: boolean,
): ReplayRequest {
  const path = {
    messages: "/v1/messages",
    chat_completions: "/v1/chat/completions",
    responses: "/v1/responses",
    generate_content: `/v1beta/models/m:${
      streamed ? "streamGenerateContent?alt=sse" : "generateContent"
    }`,
  }[dialect];
  return {
    method: "POST",
    path,
    headers: {},
    body: JSON.stringify(bodyOf(dialect, wants, streamed)),
  };
}

function textOf(request: ReplayRequest): string {
  const decoder = new TextDecoder();
  return answer(request).steps.map((step) =>
    step.step === "bytes" ? decoder.decode(step.bytes) : ""
  ).join("");
}

/** The content of the reply; asserts that the streamed and the whole reply have the same. */
function ask(dialect: DialectName, wants: Wants): ReadContent {
  const whole = contentOfWhole(
    dialect,
    objectOf(parseJson(textOf(requestOf(dialect, wants, false)))),
  );
  const streamed = contentOfStream(
    dialect,
    eventsIn(textOf(requestOf(dialect, wants, true))),
  );
  assert.deepEqual(streamed, whole);
  return whole;
}

for (const dialect of DIALECTS) {
  Deno.test(`answer() identifies itself in ${dialect}, echoes the prompt and explains how to reach a vendor`, () => {
    const { text, stop, usage } = ask(dialect, { prompt: "Wie geht's? 👋" });
    assert.match(text, /built-in replay upstream/);
    assert.match(text, /in place of m;/);
    assert.ok(text.includes("Wie geht's? 👋"));
    assert.match(text, /VENDORA_API_KEY/);
    assert.equal(stop, "end");
    assert.deepEqual([usage.input, usage.output > 20], [4, true]);
  });

  Deno.test(`answer() stops at the token limit in ${dialect}`, () => {
    const { text, stop, usage } = ask(dialect, { limit: 3 });
    assert.deepEqual([text, stop, usage.output], [
      "This is the",
      "max_tokens",
      3,
    ]);
  });

  Deno.test(`answer() stops before the earliest stop string in ${dialect}`, () => {
    const { text, stop, stopSequence } = ask(dialect, {
      stops: ["upstream", "built-in"],
    });
    assert.equal(text, "This is the ");
    assert.equal(stop, dialect === "messages" ? "stop_sequence" : "end");
    assert.equal(stopSequence, dialect === "messages" ? "built-in" : null);
  });

  Deno.test(`answer() stops at the token limit when the stop string comes later in ${dialect}`, () => {
    const { text, stop, stopSequence } = ask(dialect, {
      stops: ["upstream"],
      limit: 2,
    });
    assert.deepEqual([text, stop, stopSequence], [
      "This is",
      "max_tokens",
      null,
    ]);
  });

  Deno.test(`answer() calls the forced tool in ${dialect}`, () => {
    const args = { city: "example", days: 2 };
    const any = ask(dialect, { tool: "any" });
    assert.deepEqual([any.tools, any.text, any.stop], [
      [{ name: "first", args }],
      "",
      "tool_use",
    ]);
    const named = ask(dialect, { tool: "named" });
    assert.deepEqual(named.tools, [{ name: "second", args }]);
    const cut = ask(dialect, { tool: "any", limit: 2 });
    assert.deepEqual([cut.tools, cut.stop, cut.usage.output], [
      [],
      "max_tokens",
      2,
    ]);
  });

  Deno.test(`answer() returns an instance of the schema in ${dialect}`, () => {
    const { text, stop } = ask(dialect, { json: true });
    assert.deepEqual([parseJson(text), stop], [
      { city: "example", days: 2 },
      "end",
    ]);
  });

  Deno.test(`answer() returns the same bytes for the same request in ${dialect}`, () => {
    const request = requestOf(dialect, {}, true);
    assert.equal(textOf(request), textOf(request));
    assert.notEqual(
      textOf(request),
      textOf(requestOf(dialect, { prompt: "else" }, true)),
    );
  });

  Deno.test(`answer() does not replace fixture placeholders in a prompt in ${dialect}`, () => {
    assert.ok(
      ask(dialect, { prompt: "{{model}} {{usage:null}}" }).text.includes(
        "{{model}} {{usage:null}}",
      ),
    );
  });
}

Deno.test("answer() counts the same input tokens in each dialect, and in count_tokens", () => {
  const counts = DIALECTS.map((dialect) =>
    ask(dialect, { tool: "any" }).usage.input
  );
  assert.equal(new Set(counts).size, 1);
  const count = (path: string, body: Json): JsonObject =>
    objectOf(
      parseJson(
        textOf({
          method: "POST",
          path,
          headers: {},
          body: JSON.stringify(body),
        }),
      ),
    );
  const counted = count(
    "/v1/messages/count_tokens",
    bodyOf("messages", { tool: "any" }, false),
  );
  assert.deepEqual(counted, { input_tokens: counts[0] });
});

Deno.test("answer() returns a JSON object for response_format json_object", () => {
  const body = {
    ...bodyOf("chat_completions", {}, false),
    response_format: { type: "json_object" },
  };
  const request = {
    ...requestOf("chat_completions", {}, false),
    body: JSON.stringify(body),
  };
  assert.equal(
    contentOfWhole("chat_completions", objectOf(parseJson(textOf(request))))
      .text,
    "{}",
  );
});

Deno.test("answer() refuses bodies that no vendor accepts", () => {
  for (
    const body of [
      "",
      "{",
      "[]",
      "{}",
      '{"model":"m"}',
      '{"model":"m","messages":[]}',
    ]
  ) {
    for (
      const path of [
        "/v1/messages",
        "/chat/completions",
        "/v1beta/models/m:generateContent",
      ]
    ) {
      assert.equal(
        answer({ method: "POST", path, headers: {}, body }).status,
        400,
        body,
      );
    }
  }
});

Deno.test("answer() lists models in each dialect", () => {
  const list = (path: string, headers: Record<string, string>): JsonObject =>
    objectOf(parseJson(textOf({ method: "GET", path, headers, body: "" })));
  assert.equal(list("/v1/models", {})["object"], "list");
  assert.equal(
    list("/v1/models", { "anthropic-version": "2023-06-01" })["has_more"],
    false,
  );
  assert.ok(arrayOf(list("/v1beta/models", {})["models"]).length > 0);
});
